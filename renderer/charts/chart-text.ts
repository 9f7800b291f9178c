import type { ChartSpec } from './chart-specs.ts';
import type { ChartMark } from './marks.ts';
import type { MetricSeries } from './metric-series.ts';
import type { RunSeries } from './run-series.ts';

/** One sentence a line: where it began, where it is, between which values it ran. */
export function describeChart(spec: ChartSpec, series: RunSeries): string {
  const sentences = spec.lines.map(({ metric, label, band }) => {
    const points = series.get(metric);
    const newest = points?.newest();
    if (!points || !newest) return `${label}: no values yet.`;
    const { iteration, value } = newest;
    const low = band && series.get(band.low)?.at(iteration);
    const high = band && series.get(band.high)?.at(iteration);
    const interval =
      low === undefined || high === undefined
        ? ''
        : ` (95 % interval ${spec.format(low)} to ${spec.format(high)})`;
    return `${label}: ${spec.format(value)}${interval} at iteration ${iteration}; ${course(spec, points)}`;
  });
  return `${spec.title}, ${spec.unit}. ${sentences.join(' ')}`;
}

/** Where the run that it parted from ended. */
export function describeParent(spec: ChartSpec, parent: RunSeries): string {
  const ends = spec.lines.flatMap(({ metric, label }) => {
    const newest = parent.get(metric)?.newest();
    return newest ? [`${label} ${spec.format(newest.value)} at iteration ${newest.iteration}`] : [];
  });
  return ends.length > 0 ? `Its parent: ${ends.join(', ')}.` : '';
}

export const describeMarks = (marks: readonly ChartMark[]): string =>
  marks.length > 0 ? `Marked: ${marks.map(({ title }) => title).join('; ')}.` : '';

function course(spec: ChartSpec, points: MetricSeries): string {
  const values = points.values();
  let low = values[0]!;
  let high = low;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return `began at ${spec.format(values[0]!)}, lowest ${spec.format(low)}, highest ${spec.format(high)}.`;
}
