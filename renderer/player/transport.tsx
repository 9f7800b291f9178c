import type { Replay } from '../../core/contract/contract.ts';
import { PlaybackControls } from './playback-controls.tsx';
import { useReplay } from './replay-view.tsx';

/** Playback controls of the episode that is shown. */
export function Transport({ replay }: { replay: Replay }) {
  const index = useReplay((state) => state.player.index);
  const playing = useReplay((state) => state.player.playing);
  const speed = useReplay((state) => state.player.speed);
  const act = useReplay((state) => state.act);
  const last = replay.frames.length - 1;
  return (
    <PlaybackControls
      label="Playback"
      playing={playing}
      speed={speed}
      atStart={index === 0}
      atEnd={index >= last}
      isEmpty={last < 1}
      act={act}
    >
      <span className="faint transport-place">
        {index} / {Math.max(0, last)}
      </span>
    </PlaybackControls>
  );
}
