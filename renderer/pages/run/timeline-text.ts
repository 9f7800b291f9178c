import type { IterationTimeline, TimeSpan } from '../../../core/contract/contract.ts';

/** The rows of a timeline in order, with their titles. */
const phases: Record<string, string> = {
  load: 'Load',
  rollout: 'Rollout',
  filter: 'Filter',
  update: 'Update',
  diagnose: 'Diagnostics',
  evaluate: 'Evaluation',
  checkpoint: 'Checkpoint',
  write: 'Write episodes',
};

export interface TimelineRow {
  name: string;
  title: string;
  /** When the phase ran, in the iteration and its neighbors. */
  spans: readonly TimeSpan[];
  /** Time of the phase within this iteration, without its neighbors, and its share of the iteration's duration. */
  seconds: number;
  share: number;
}

export interface TimelineRows {
  rows: readonly TimelineRow[];
  /** In ms since the epoch. */
  start: number;
  end: number;
  /** Duration of the iteration with its evaluation and checkpoint. */
  seconds: number;
}

/** Arranges the phases of a timeline as rows. Episodes are written beside the update, so shares may add up to more than 1. */
export function timelineRows({ iteration, spans }: IterationTimeline): TimelineRows {
  const own = spans.filter((span) => span.iteration === iteration);
  const seconds = (lastOf(own) - firstOf(own)) / 1000;
  const names = [...new Set([...Object.keys(phases), ...spans.map(({ name }) => name)])];
  const rows = names.flatMap((name): TimelineRow[] => {
    const inRow = spans.filter((span) => span.name === name);
    if (inRow.length === 0) return [];
    const spent = inRow
      .filter((span) => span.iteration === iteration)
      .reduce((sum, { start, end }) => sum + (end - start) / 1000, 0);
    return [
      { name, title: phases[name] ?? name, spans: inRow, seconds: spent, share: seconds > 0 ? spent / seconds : 0 },
    ];
  });
  return { rows, start: firstOf(spans), end: lastOf(spans), seconds };
}

const firstOf = (spans: readonly TimeSpan[]) => Math.min(...spans.map(({ start }) => start));
const lastOf = (spans: readonly TimeSpan[]) => Math.max(...spans.map(({ end }) => end));

/** Formats a short duration: `84 ms`, `1.25 s`, `64.0 s`, `12 min`. */
export function shortTime(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 600) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  return `${Math.round(seconds / 60)} min`;
}
