import { useEffect, useRef } from 'react';
import type { Frame, Replay } from '../../core/contract/contract.ts';
import { inOrder } from '../components/in-order.ts';
import { describeFrame, outcomeAt } from '../environments/describe.ts';
import { useReplay } from './replay-view.tsx';

const arrows: Record<string, string> = { left: '←', right: '→', up: '↑', down: '↓' };

/** Shows one button per action, grouped by turn. The slider below is for the keyboard. */
export function Timeline({ replay }: { replay: Replay }) {
  const index = useReplay((state) => state.player.index);
  const act = useReplay((state) => state.act);
  const { frames, turns } = replay;
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const mark = row.current?.querySelectorAll<HTMLElement>('.mark')[index];
    if (row.current && mark) keepVisible(row.current, mark);
  }, [index]);
  const turn = index === 0 ? null : frames[index]?.turn;
  const mark = (at: number) => <Mark key={at} replay={replay} at={at} position={index} />;
  return (
    <div className="timeline">
      <div className="timeline-turns" ref={row}>
        <div className="timeline-turn" data-current={index === 0 || undefined}>
          <span className="timeline-name faint small">Start</span>
          <div className="timeline-marks">{mark(0)}</div>
        </div>
        {inOrder(turns, (_turn, each) => (
          <div className="timeline-turn" data-current={each === turn || undefined}>
            <span className="timeline-name faint small">Turn {each + 1}</span>
            <div className="timeline-marks">
              {frames.map((frame, at) => (at > 0 && frame.turn === each ? mark(at) : null))}
            </div>
          </div>
        ))}
      </div>
      <input
        type="range"
        className="scrubber"
        aria-label="Position in the episode"
        aria-valuetext={describeFrame(replay, index)}
        min={0}
        max={Math.max(0, frames.length - 1)}
        value={index}
        onChange={({ target }) => act({ type: 'seek', index: Number(target.value) })}
      />
    </div>
  );
}

/** Scrolls only this row, to keep the mark and its neighbors visible. */
function keepVisible(row: HTMLElement, mark: HTMLElement): void {
  const margin = 40;
  const { left, right } = mark.getBoundingClientRect();
  const box = row.getBoundingClientRect();
  if (left - margin < box.left) row.scrollLeft += left - margin - box.left;
  else if (right + margin > box.right) row.scrollLeft += right + margin - box.right;
}

function Mark({ replay, at, position }: { replay: Replay; at: number; position: number }) {
  const act = useReplay((state) => state.act);
  const frame = replay.frames[at]!;
  const text = describeFrame(replay, at);
  return (
    <button
      type="button"
      tabIndex={-1}
      className="mark"
      data-tone={outcomeAt(replay, at).tone}
      data-lost={frame.deadEnd || undefined}
      data-done={at <= position || undefined}
      aria-current={at === position ? 'step' : undefined}
      aria-label={text}
      title={text}
      onClick={() => act({ type: 'seek', index: at })}
    >
      <span aria-hidden="true">{symbol(frame, at)}</span>
    </button>
  );
}

/** Returns an arrow for a direction, otherwise the action's name. */
function symbol({ action }: Frame, at: number): string {
  if (action === null) return at === 0 ? '●' : '–';
  return arrows[action.toLowerCase()] ?? action;
}
