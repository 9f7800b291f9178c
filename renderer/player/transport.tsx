import type { Replay } from '../../core/contract/contract.ts';
import { IconButton } from '../components/basics.tsx';
import { Icon } from '../components/icon.tsx';
import { speeds } from './player.ts';
import { useReplay } from './replay-view.tsx';

export function Transport({ replay }: { replay: Replay }) {
  const index = useReplay((state) => state.player.index);
  const playing = useReplay((state) => state.player.playing);
  const speed = useReplay((state) => state.player.speed);
  const act = useReplay((state) => state.act);
  const last = replay.frames.length - 1;
  return (
    <fieldset className="transport" aria-label="Playback">
      <IconButton
        icon="first"
        label="Go to start (Home)"
        onClick={() => act({ type: 'home' })}
        disabled={index === 0}
      />
      <IconButton
        icon="previous"
        label="Back one action (left arrow)"
        onClick={() => act({ type: 'step', by: -1 })}
        disabled={index === 0}
      />
      <button
        type="button"
        className="play-button"
        aria-label={playing ? 'Pause (space)' : 'Play (space)'}
        title={playing ? 'Pause (space)' : 'Play (space)'}
        onClick={() => act({ type: 'toggle' })}
        disabled={last < 1}
      >
        <Icon name={playing ? 'pause' : 'play'} size={18} />
      </button>
      <IconButton
        icon="next"
        label="Forward one action (right arrow)"
        onClick={() => act({ type: 'step', by: 1 })}
        disabled={index >= last}
      />
      <IconButton icon="last" label="Go to end (End)" onClick={() => act({ type: 'end' })} disabled={index >= last} />
      <span className="faint transport-place">
        {index} / {Math.max(0, last)}
      </span>
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
