import type { ChartSpec } from './chart-specs.ts';
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
