import { join } from 'node:path';
import type { IterationTimeline, TimeSpan } from '../contract/contract.ts';
import type { JournalEvent } from '../run-directory/events.ts';
import { readJournalRange } from '../run-directory/journal-range.ts';
import { runFiles, runFolder, trainSplit } from '../run-directory/names.ts';
import type { HistoryDatabase } from './database.ts';
import { eventsByType, prepared, preparedValue } from './statements.ts';

/** Iterations shown before and after the requested one. */
const neighbors = 1;

/** Implements `runs.timeline`. The history doesn't store phases, so this reads the journal's part with these iterations. */
export function readTimeline(
  database: HistoryDatabase,
  home: string,
  runId: string,
  requested?: number,
): IterationTimeline | null {
  const bounds = boundsOf(database, runId, requested);
  if (!bounds) return null;
  const { iteration, first, last, from, to } = bounds;
  const events = readJournalRange(join(runFolder(home, runId), runFiles.journal), from, to);
  const spans = spansOf(events).filter((span) => Math.abs(span.iteration - iteration) <= neighbors);
  return spans.some((span) => span.iteration === iteration) ? { iteration, first, last, spans } : null;
}

interface Bounds {
  iteration: number;
  first: number;
  last: number;
  /** The first and last `seq` to read. */
  from: number;
  to: number;
}

/** Returns null for a run without complete iterations. */
function boundsOf(database: HistoryDatabase, runId: string, requested = Number.MAX_SAFE_INTEGER): Bounds | null {
  const column = `json_extract(body, '$.iteration')`;
  const first = preparedValue<[string], number>(
    database,
    `SELECT ${column} FROM ${eventsByType} WHERE run = ? AND type = 'iteration' ORDER BY seq LIMIT 1`,
  ).get(runId);
  if (first === undefined) return null;
  const newestFirst = prepared<[string], { seq: number; iteration: number }>(
    database,
    `SELECT seq, ${column} AS iteration FROM ${eventsByType} WHERE run = ? AND type = 'iteration' ORDER BY seq DESC`,
  );
  let [last, iteration, from, to] = [first, first, 0, Number.MAX_SAFE_INTEGER];
  let lowest = Number.POSITIVE_INFINITY;
  for (const event of newestFirst.iterate(runId)) {
    // A resumed run repeated these iterations later.
    if (event.iteration >= lowest) continue;
    if (lowest === Number.POSITIVE_INFINITY) {
      last = event.iteration;
      iteration = Math.max(first, Math.min(last, requested));
    }
    lowest = event.iteration;
    if (lowest > iteration + neighbors) to = event.seq;
    if (lowest < iteration - neighbors) {
      from = event.seq;
      break;
    }
  }
  return { iteration, first, last, from, to };
}

type OpenSpan = Omit<TimeSpan, 'end'>;

/** Events that end a phase. */
const ends: ReadonlySet<string> = new Set(['iteration', 'checkpoint', 'paused', 'stopped', 'failed', 'started']);

/** Returns when phases began and ended. Pauses are left out, as are iterations that a resumed run repeated. */
export function spansOf(events: readonly JournalEvent[]): TimeSpan[] {
  let spans: TimeSpan[] = [];
  /** When the training episodes of an iteration were logged as written. */
  const written = new Map<number, number>();
  let open = null as OpenSpan | null;
  let paused = null as OpenSpan | null;
  const close = (span: OpenSpan | null, end: number) => {
    if (span && end > span.start) spans.push({ ...span, end });
  };
  for (const event of events) {
    const { time } = event;
    if (ends.has(event.type)) {
      close(open, time);
      paused = event.type === 'paused' ? open : null;
      open = null;
    }
    if (event.type === 'started') {
      const { resume } = event.body;
      spans = spans.filter(({ iteration }) => resume && iteration <= resume.iteration);
    } else if (event.type === 'resumed' && paused) {
      open = { ...paused, start: time };
      paused = null;
    } else if (event.type === 'phase') {
      const { name, iteration } = event.body;
      if (open?.name === name && open.iteration === iteration) continue;
      close(open, time);
      open = { name, iteration, start: time };
    } else if (event.type === 'rollout' && event.body.split === trainSplit) {
      written.set(event.body.iteration, time);
    } else if (event.type === 'iteration') {
      const { iteration, metrics } = event.body;
      const [end, seconds] = [written.get(iteration), metrics['time/write']];
      if (end !== undefined && seconds) spans.push({ name: 'write', iteration, start: end - seconds * 1000, end });
    }
  }
  close(open, events.at(-1)?.time ?? 0);
  return spans.sort((a, b) => a.start - b.start);
}
