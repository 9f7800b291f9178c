import { type AxisKind, type AxisPositions, axisKinds, positionsOn, type RunShape } from './axes.ts';
import type { ChartSpec } from './chart-specs.ts';
import type { Zoom } from './layout.ts';
import type { SeriesSource } from './series-source.ts';
import type { Trace } from './traces.ts';

/** A run, or the mean of a group, drawn as one line per metric. */
export interface Subject {
  id: string;
  label: string;
  source: SeriesSource;
  shape: RunShape;
  /** Color on all charts if there are several subjects; otherwise lines have the colors of their metrics. */
  color?: string;
  dash?: Trace['dash'];
  /** True for the parent of a fork. */
  faint?: boolean;
  /** Bounds of a group's runs. */
  bounds?: { title: string; low: SeriesSource; high: SeriesSource };
}

/** Returns the axes for which every subject has data. */
export const axesOf = (subjects: readonly Subject[]): AxisKind[] =>
  axisKinds.filter((kind) => subjects.every(({ source, shape }) => positionsOn(kind, source, shape) !== null));

/** Returns the positions of each subject's iterations; subjects without data for the axis are left out. */
export function positionsOf(subjects: readonly Subject[], axis: AxisKind): Map<Subject, AxisPositions> {
  return new Map(
    subjects.flatMap((subject): [Subject, AxisPositions][] => {
      const positions = positionsOn(axis, subject.source, subject.shape);
      return positions ? [[subject, positions]] : [];
    }),
  );
}

export function tracesOf(spec: ChartSpec, positions: ReadonlyMap<Subject, AxisPositions>): Trace[] {
  return [...positions].flatMap(([subject, own]) =>
    spec.lines.map((line, index): Trace => {
      const { id, source, bounds, faint, label, color } = subject;
      const isOneOfMany = color !== undefined;
      const { metric, band } = line;
      return {
        id: `${id} ${metric}`,
        source,
        metric,
        positions: own,
        label: !isOneOfMany && !faint ? line.label : spec.lines.length > 1 ? `${label}, ${line.label}` : label,
        color: color ?? line.color,
        ...(isOneOfMany ? dashOf(subject, index) : line.dashed && { dash: 'dashed' as const }),
        ...(line.sparse && { sparse: true }),
        ...(faint && { faint: true }),
        ...(bounds
          ? {
              band: {
                title: bounds.title,
                low: { source: bounds.low, metric },
                high: { source: bounds.high, metric },
              },
            }
          : band &&
            !isOneOfMany &&
            !faint && {
              band: {
                title: '95 % interval',
                low: { source, metric: band.low },
                high: { source, metric: band.high },
              },
            }),
      };
    }),
  );
}

const dashOf = ({ dash }: Subject, line: number): Pick<Trace, 'dash'> =>
  line > 0 ? { dash: 'dashed' } : dash ? { dash } : {};

/**
 * Returns the range of the axis, equal for all charts: the configured iterations, or for other axes the data
 * so far. The iteration axis starts at the first fork if all runs are forks and no parent is drawn.
 */
export function extentOf(positions: ReadonlyMap<Subject, AxisPositions>, axis: AxisKind): () => Zoom {
  const main = [...positions].filter(([{ faint }]) => !faint);
  const whole = main.length < positions.size || axis !== 'iteration';
  let version = -1;
  let extent: Zoom = { min: 0, max: 1 };
  return () => {
    const now = main.reduce((sum, [{ source }]) => sum + source.version, 0);
    if (now === version) return extent;
    version = now;
    let max = 0;
    // Counters start at 0, the clock doesn't.
    let min = axis === 'clock' || !whole ? Number.POSITIVE_INFINITY : 0;
    for (const [{ source, shape }, positions] of main) {
      const last = source
        .names()
        .reduce((newest, name) => Math.max(newest, source.get(name)?.newest()?.iteration ?? 0), 0);
      max = Math.max(max, axis === 'iteration' ? Math.max(last, shape.iterations) : positions.at(last));
      min = Math.min(min, axis === 'clock' ? positions.at(0) : whole ? 0 : firstIteration(source));
    }
    if (min === Number.POSITIVE_INFINITY) min = 0;
    extent = main.length > 0 ? { min, max: max > min ? max : min + 1 } : { min: 0, max: 1 };
    return extent;
  };
}

/** Returns the first iteration of a run's data: 0, except for forks. */
function firstIteration(source: SeriesSource): number {
  const first = source
    .names()
    .reduce((least, name) => Math.min(least, source.get(name)?.iterations()[0] ?? least), Number.POSITIVE_INFINITY);
  return first > 1 && first < Number.POSITIVE_INFINITY ? first : 0;
}
