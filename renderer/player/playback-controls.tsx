import type { ReactNode } from 'react';
import { IconButton } from '../components/basics.tsx';
import { Icon } from '../components/icon.tsx';
import { type PlayerAction, type PlayerState, speeds } from './player.ts';

interface PlaybackControlsProps extends Pick<PlayerState, 'playing' | 'speed'> {
  label: string;
  atStart: boolean;
  atEnd: boolean;
  /** Whether the episode has no action to play. */
  isEmpty?: boolean;
  act: (action: PlayerAction) => void;
  className?: string | undefined;
  /** The position, shown after the buttons. */
  children?: ReactNode;
}

/** Buttons that play, step and set the speed. */
export function PlaybackControls(props: PlaybackControlsProps) {
  const { label, playing, speed, atStart, atEnd, isEmpty = false, act, className = '', children } = props;
  const toggle = playing ? 'Pause (space)' : 'Play (space)';
  return (
    <fieldset className={`transport ${className}`} aria-label={label}>
      <IconButton icon="first" label="Go to start (Home)" disabled={atStart} onClick={() => act({ type: 'home' })} />
      <IconButton
        icon="previous"
        label="Back one action (left arrow)"
        disabled={atStart}
        onClick={() => act({ type: 'step', by: -1 })}
      />
      <button
        type="button"
        className="play-button"
        aria-label={toggle}
        title={toggle}
        disabled={isEmpty}
        onClick={() => act({ type: 'toggle' })}
      >
        <Icon name={playing ? 'pause' : 'play'} size={18} />
      </button>
      <IconButton
        icon="next"
        label="Forward one action (right arrow)"
        disabled={atEnd}
        onClick={() => act({ type: 'step', by: 1 })}
      />
      <IconButton icon="last" label="Go to end (End)" disabled={atEnd} onClick={() => act({ type: 'end' })} />
      {children}
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
