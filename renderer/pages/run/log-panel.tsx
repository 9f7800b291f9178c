import { useEffect, useRef } from 'react';
import type { LogLine } from '../../../core/contract/contract.ts';
import { Panel } from '../../components/basics.tsx';
import { clock } from '../../components/format.ts';
import { ScrollingRegion } from '../../components/scrolling-region.tsx';
import { useRun } from '../../views/run-view.tsx';

const iterationMessage = /^iteration (\d+): (.*)$/s;

/** Merges repeated messages of successive iterations: `9 iterations since 83: ...`. */
export function withoutRepeats(log: readonly LogLine[]): LogLine[] {
  const merged: LogLine[] = [];
  let repeated = { text: '', since: 0, times: 0 };
  for (const line of log) {
    const [, iteration, text = ''] = line.message.match(iterationMessage) ?? [];
    const repeats = text !== '' && text === repeated.text && merged.at(-1)?.level === line.level;
    repeated = repeats ? { ...repeated, times: repeated.times + 1 } : { text, since: Number(iteration), times: 1 };
    if (repeats) merged.pop();
    merged.push(repeats ? { ...line, message: `${repeated.times} iterations since ${repeated.since}: ${text}` } : line);
  }
  return merged;
}

export function LogPanel() {
  const log = useRun((state) => state.log);
  const loaded = useRun((state) => state.loaded);
  const list = useRef<HTMLElement>(null);
  const following = useRef(true);

  // biome-ignore lint/correctness/useExhaustiveDependencies: scroll whenever a line is added
  useEffect(() => {
    const element = list.current;
    if (element && following.current) element.scrollTop = element.scrollHeight;
  }, [log]);

  const last = log.at(-1);
  return (
    <Panel open title="Log" note={last?.message ?? (loaded ? 'empty' : '')}>
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
        {log.length === 0 && <p className="faint">{loaded ? 'No log messages yet.' : 'Loading the log…'}</p>}
      </ScrollingRegion>
    </Panel>
  );
}
