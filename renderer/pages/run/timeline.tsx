import { useEffect, useId, useMemo, useState } from 'react';
import type { IterationTimeline, TimeSpan } from '../../../core/contract/contract.ts';
import { isConnectionLost } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { IconButton } from '../../components/basics.tsx';
import { percent } from '../../components/format.ts';
import { useApp } from '../../stores/app-store.ts';
import styles from './timeline.module.css';
import { shortTime, type TimelineRow, timelineRows } from './timeline-text.ts';

interface TimelineProps {
  runId: string;
  /** The last complete iteration; a change reloads the newest timeline. */
  newest: number;
}

/** Shows when each phase of an iteration ran, and its share of the time. */
export function Timeline({ runId, newest }: TimelineProps) {
  const [chosen, setChosen] = useState<number | null>(null);
  const timeline = useTimeline(runId, chosen, newest);
  const title = useId();
  const found = useMemo(() => timeline && timelineRows(timeline), [timeline]);
  if (!timeline || !found) return null;
  const { iteration, first, last } = timeline;
  const { rows, start, end, seconds } = found;
  const choose = (to: number) => setChosen(to >= last ? null : Math.max(first, to));
  return (
    <section className={`panel ${styles.timeline}`} aria-labelledby={title}>
      <header className="row wrap">
        <h3 id={title}>Timeline</h3>
        <span className="faint small">
          iteration {iteration}: {shortTime(seconds)}, with adjacent iterations
        </span>
        <span className="spacer" />
        <IconButton
          icon="previous"
          label="Previous iteration"
          disabled={iteration <= first}
          onClick={() => choose(iteration - 1)}
        />
        <input
          type="range"
          min={first}
          max={last}
          value={iteration}
          aria-label="Iteration of the timeline"
          onChange={({ target }) => choose(Number(target.value))}
        />
        <IconButton
          icon="next"
          label="Next iteration"
          disabled={iteration >= last}
          onClick={() => choose(iteration + 1)}
        />
      </header>
      <table className={styles.rows}>
        <thead>
          <tr className="faint small">
            <th scope="col">Phase</th>
            <td aria-hidden="true">
              <Axis spans={timeline.spans} start={start} end={end} iteration={iteration} />
            </td>
            <th scope="col" className="numeric">
              Duration
            </th>
            <th scope="col" className="numeric">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.name} row={row} start={start} end={end} iteration={iteration} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface Extent {
  /** In ms since the epoch. */
  start: number;
  end: number;
  iteration: number;
}

const place = (from: number, to: number, { start, end }: Extent) => ({
  left: `${(100 * (from - start)) / (end - start)}%`,
  width: `${(100 * (to - from)) / (end - start)}%`,
});

/** Names the iterations above their phases. */
function Axis({ spans, ...extent }: Extent & { spans: readonly TimeSpan[] }) {
  const byIteration = [...Map.groupBy(spans, (span) => span.iteration)];
  return (
    <div className={styles.axis}>
      {byIteration.map(([iteration, own]) => {
        const [from, to] = [Math.min(...own.map((span) => span.start)), Math.max(...own.map((span) => span.end))];
        return (
          <span
            key={iteration}
            style={place(from, to, extent)}
            data-current={iteration === extent.iteration || undefined}
          >
            {iteration}
          </span>
        );
      })}
    </div>
  );
}

function Row({ row: { name, title, spans, seconds, share }, ...extent }: Extent & { row: TimelineRow }) {
  return (
    <tr>
      <th scope="row">{title}</th>
      <td aria-hidden="true">
        <div className={styles.lane}>
          {spans.map((span) => (
            <span
              key={`${span.iteration} ${span.start}`}
              className={styles.span}
              data-phase={name}
              data-other={span.iteration !== extent.iteration || undefined}
              style={place(span.start, span.end, extent)}
              title={`${title}, iteration ${span.iteration}: ${shortTime((span.end - span.start) / 1000)}`}
            />
          ))}
        </div>
      </td>
      <td className="numeric">{seconds > 0 ? shortTime(seconds) : '–'}</td>
      <td className="numeric">{seconds > 0 ? percent(share, 0) : '–'}</td>
    </tr>
  );
}

/** Returns the timeline of an iteration, or of the newest one (null); null while loading or without phases. */
function useTimeline(runId: string, iteration: number | null, newest: number): IterationTimeline | null {
  const api = useApi();
  const open = useApp((state) => state.connection === 'open');
  const [timeline, setTimeline] = useState<IterationTimeline | null>(null);
  // A chosen iteration has ended, so only the next one can change.
  const version = iteration === null || newest <= iteration + 1 ? newest : 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new iteration changes the result.
  useEffect(() => {
    if (!open) return;
    let active = true;
    api.call('runs.timeline', { runId, ...(iteration !== null && { iteration }) }).then(
      (found) => active && setTimeline(found),
      (cause) => active && !isConnectionLost(cause) && useApp.getState().report(cause),
    );
    return () => {
      active = false;
    };
  }, [api, open, runId, iteration, version]);
  return timeline;
}
