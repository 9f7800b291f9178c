import { useEffect, useRef } from 'react';
import type { LogLine } from '../../../core/contract/contract.ts';
import { Panel } from '../../components/basics.tsx';
import { clock } from '../../components/format.ts';
import { ScrollingRegion } from '../../components/scrolling-region.tsx';
import { useRun } from '../../views/run-view.tsx';

const ofIteration = /^iteration (\d+): (.*)$/s;

/** What the trainer says of one iteration after the other is one line: `9 iterations since 83: ...`. */
export function withoutRepeats(log: readonly LogLine[]): LogLine[] {
  const told: LogLine[] = [];
  let repeated = { said: '', since: 0, times: 0 };
  for (const line of log) {
    const [, iteration, said = ''] = line.message.match(ofIteration) ?? [];
    const again = said !== '' && said === repeated.said && told.at(-1)?.level === line.level;
    repeated = again
      ? { ...repeated, times: repeated.times + 1 }
      : { said, since: Number(iteration), times: 1 };
    if (again) told.pop();
    told.push(
      again ? { ...line, message: `${repeated.times} iterations since ${repeated.since}: ${said}` } : line,
    );
  }
  return told;
}

export function LogPanel() {
  const log = useRun((state) => state.log);
  const list = useRef<HTMLElement>(null);
  const following = useRef(true);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new line is the reason to scroll
  useEffect(() => {
    const element = list.current;
    if (element && following.current) element.scrollTop = element.scrollHeight;
  }, [log]);

  const last = log.at(-1);
  return (
    <Panel title="Log" note={last ? last.message : 'empty'}>
      <ScrollingRegion
        className="log"
        ref={list}
        role="log"
        aria-label="Log"
        onScroll={({ currentTarget: at }) => {
          following.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24;
        }}
      >
        {withoutRepeats(log).map(({ seq, time, level, message }) => (
          <p key={seq} data-level={level}>
            <time>{clock(time)}</time>
            {level !== 'info' && <strong>{level}</strong>}
            <span>{message}</span>
          </p>
        ))}
        {log.length === 0 && <p className="faint">The trainer has said nothing yet.</p>}
      </ScrollingRegion>
    </Panel>
  );
}
