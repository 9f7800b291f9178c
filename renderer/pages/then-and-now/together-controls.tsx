import { useCallback, useSyncExternalStore } from 'react';
import { useStore } from 'zustand';
import { IconButton } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { type PlayerAction, speeds } from '../../player/player.ts';
import type { ReplayState, ReplayStore } from '../../player/replay-store.ts';
import styles from './then-and-now.module.css';

interface TogetherControlsProps {
  stores: readonly ReplayStore[];
  act: (action: PlayerAction) => void;
}

/** Shows playback controls of all boards. */
export function TogetherControls({ stores, act }: TogetherControlsProps) {
  const playing = useSome(stores, ({ player }) => player.playing);
  const started = useSome(stores, ({ player }) => player.index > 0);
  const speed = useStore(stores[0]!, ({ player }) => player.speed);
  const label = playing ? 'Pause (space)' : 'Play (space)';
  return (
    <fieldset className={`transport ${styles.controls}`} aria-label="Playback of all boards">
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
            aria-pressed={speed === value}
            onClick={() => act({ type: 'speed', speed: value })}
          >
            {value === 0.5 ? '½' : value}×
          </button>
        ))}
      </fieldset>
    </fieldset>
  );
}

/** Returns whether the condition holds for any of the players. */
function useSome(stores: readonly ReplayStore[], condition: (state: ReplayState) => boolean): boolean {
  return useSyncExternalStore(
    useCallback(
      (onChange) => {
        const ends = stores.map((store) => store.subscribe(onChange));
        return () => {
          for (const end of ends) end();
        };
      },
      [stores],
    ),
    () => stores.some((store) => condition(store.getState())),
  );
}
