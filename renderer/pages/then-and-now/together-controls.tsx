import { useStore } from 'zustand';
import { IconButton } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { type PlayerAction, speeds } from '../../player/player.ts';
import type { ReplayStore } from '../../player/replay-store.ts';
import styles from './then-and-now.module.css';

interface TogetherControlsProps {
  stores: readonly [ReplayStore, ReplayStore];
  act: (action: PlayerAction) => void;
}

/** Shows playback controls of both boards. */
export function TogetherControls({ stores, act }: TogetherControlsProps) {
  const first = useStore(stores[0], ({ player }) => player);
  const second = useStore(stores[1], ({ player }) => player);
  const playing = first.playing || second.playing;
  const started = first.index + second.index > 0;
  const label = playing ? 'Pause (space)' : 'Play (space)';
  return (
    <fieldset className={`transport ${styles.controls}`} aria-label="Playback of both boards">
      <IconButton icon="first" label="Go to start (Home)" disabled={!started} onClick={() => act({ type: 'home' })} />
      <IconButton
        icon="previous"
        label="Back one action (left arrow)"
        disabled={!started}
        onClick={() => act({ type: 'step', by: -1 })}
      />
      <button
        type="button"
        className="play-button"
        aria-label={label}
        title={label}
        onClick={() => act({ type: 'toggle' })}
      >
        <Icon name={playing ? 'pause' : 'play'} size={18} />
      </button>
      <IconButton icon="next" label="Forward one action (right arrow)" onClick={() => act({ type: 'step', by: 1 })} />
      <IconButton icon="last" label="Go to end (End)" onClick={() => act({ type: 'end' })} />
      <span className="spacer" />
      <fieldset className="segments" aria-label="Speed">
        {speeds.map((value) => (
          <button
            key={value}
            type="button"
            aria-pressed={first.speed === value}
            onClick={() => act({ type: 'speed', speed: value })}
          >
            {value === 0.5 ? '½' : value}×
          </button>
        ))}
      </fieldset>
    </fieldset>
  );
}
