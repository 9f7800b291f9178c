import { count } from '../../core/contract/numbers.ts';
import type { ChartSpec } from './chart-specs.ts';
import type { ChartMark } from './marks.ts';
import type { MetricSeries } from './metric-series.ts';
import type { Reference } from './references.ts';
import { readingAt, seriesOf, type Trace } from './traces.ts';

const maxDescribed = 12;

/** Describes a chart with one sentence per line: newest value, first value and range. */
export function describeChart(spec: ChartSpec, traces: readonly Trace[]): string {
  const mainTraces = traces.filter(({ faint }) => !faint);
  const sentences = mainTraces.slice(0, maxDescribed).map((trace) => describeTrace(spec, trace));
  const rest = mainTraces.length - sentences.length;
  return [
    `${[spec.title, spec.unit].filter(Boolean).join(', ')}.`,
    ...sentences,
    ...(rest > 0 ? [`${count(rest, 'more line')}.`] : []),
    describeParent(spec, traces),
  ]
    .filter(Boolean)
    .join(' ');
}

function describeTrace(spec: ChartSpec, trace: Trace): string {
  const series = seriesOf(trace);
  const newest = readingAt(trace, -1, 0);
  if (!series || !newest) return `${trace.label}: no data yet.`;
  const { iteration, value, band } = newest;
  const interval = band ? ` (${trace.band?.title}: ${spec.format(band.low)} to ${spec.format(band.high)})` : '';
  return `${trace.label}: ${spec.format(value)}${trace.sparse ? interval : ''} at iteration ${iteration}; ${describeRange(spec, series)}`;
}

/** Describes where the parent run ended. */
function describeParent(spec: ChartSpec, traces: readonly Trace[]): string {
  const ends = traces.flatMap((trace) => {
    const newest = trace.faint ? readingAt(trace, -1, 0) : null;
    return newest ? [`${trace.label} ${spec.format(newest.value)} at iteration ${newest.iteration}`] : [];
  });
  return ends.length > 0 ? `Parent: ${ends.join(', ')}.` : '';
}

export const describeReferences = (references: readonly Reference[]): string =>
  references.length > 0 ? `References: ${references.map(({ label }) => label).join(', ')}.` : '';

export const describeMarks = (marks: readonly ChartMark[]): string =>
  marks.length > 0 ? `Marks: ${marks.map(({ title }) => title).join('; ')}.` : '';

function describeRange(spec: ChartSpec, points: MetricSeries): string {
  const values = points.values();
  const low = points.min().reduce((min, value) => Math.min(min, value));
  const high = points.max().reduce((max, value) => Math.max(max, value));
  return `first ${spec.format(values[0]!)}, lowest ${spec.format(low)}, highest ${spec.format(high)}.`;
}
