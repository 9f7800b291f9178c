import { type AxisKind, axisKinds, type Places, placesOn, type RunShape } from './axes.ts';
import type { ChartSpec } from './chart-specs.ts';
import type { Zoom } from './layout.ts';
import type { SeriesSource } from './series-source.ts';
import type { Trace } from './traces.ts';

/** What a chart is about: a run, or a group of runs by their mean. */
export interface Subject {
  id: string;
  label: string;
  source: SeriesSource;
  shape: RunShape;
  /** Of one among several, the same on every chart; without it, lines have the colours of their metrics. */
  color?: string;
  dash?: Trace['dash'];
  /** The run that the other one parted from. */
  faint?: boolean;
  /** Edges of what a group's runs lie between. */
  spread?: { low: SeriesSource; high: SeriesSource };
}

/** The axes that every subject has values for. */
export const axesOf = (subjects: readonly Subject[]): AxisKind[] =>
  axisKinds.filter((kind) => subjects.every(({ source, shape }) => placesOn(kind, source, shape) !== null));

/** Where each subject's iterations stand; those that the axis says nothing of are left out. */
export function placesOf(subjects: readonly Subject[], axis: AxisKind): Map<Subject, Places> {
  return new Map(
    subjects.flatMap((subject): [Subject, Places][] => {
      const places = placesOn(axis, subject.source, subject.shape);
      return places ? [[subject, places]] : [];
    }),
  );
}

/** The lines of a chart, a subject's metrics together. */
export function tracesOf(spec: ChartSpec, places: ReadonlyMap<Subject, Places>): Trace[] {
  return [...places].flatMap(([subject, own]) =>
    spec.lines.map((line, index): Trace => {
      const { id, source, spread, faint, label, color } = subject;
      const many = color !== undefined;
      const { metric, band } = line;
      return {
        id: `${id} ${metric}`,
        source,
        metric,
        places: own,
        label: !many && !faint ? line.label : spec.lines.length > 1 ? `${label}, ${line.label}` : label,
        color: color ?? line.color,
        ...(many ? dashOf(subject, index) : line.dashed && { dash: 'dashed' as const }),
        ...(line.sparse && { sparse: true }),
        ...(faint && { faint: true }),
        ...(spread
          ? { band: { low: { source: spread.low, metric }, high: { source: spread.high, metric } } }
          : band &&
            !many &&
            !faint && { band: { low: { source, metric: band.low }, high: { source, metric: band.high } } }),
      };
    }),
  );
}

const dashOf = ({ dash }: Subject, line: number): Pick<Trace, 'dash'> =>
  line > 0 ? { dash: 'dashed' } : dash ? { dash } : {};

/** All of the axis, the same for every chart: as far as the runs are to go by iteration, as far as they have come by anything else. Where all went on from other runs' checkpoints, which aren't shown, from the first of these on. */
export function extentOf(places: ReadonlyMap<Subject, Places>, axis: AxisKind): () => Zoom {
  const own = [...places].filter(([{ faint }]) => !faint);
  const whole = own.length < places.size || axis !== 'iteration';
  let version = -1;
  let extent: Zoom = { min: 0, max: 1 };
  return () => {
    const now = own.reduce((sum, [{ source }]) => sum + source.version, 0);
    if (now === version) return extent;
    version = now;
    let max = 0;
    // Training begins at 0 by whatever is counted, and at some time by the clock.
    let min = axis === 'clock' || !whole ? Number.POSITIVE_INFINITY : 0;
    for (const [{ source, shape }, places] of own) {
      const last = source
        .names()
        .reduce((newest, name) => Math.max(newest, source.get(name)?.newest()?.iteration ?? 0), 0);
      max = Math.max(max, axis === 'iteration' ? Math.max(last, shape.iterations) : places.at(last));
      min = Math.min(min, axis === 'clock' ? places.at(0) : whole ? 0 : beginOf(source));
    }
    if (min === Number.POSITIVE_INFINITY) min = 0;
    extent = own.length > 0 ? { min, max: max > min ? max : min + 1 } : { min: 0, max: 1 };
    return extent;
  };
}

/** The iteration that a run's values begin with: 0, but for one that went on from a checkpoint. */
function beginOf(source: SeriesSource): number {
  const first = source
    .names()
    .reduce(
      (least, name) => Math.min(least, source.get(name)?.iterations()[0] ?? least),
      Number.POSITIVE_INFINITY,
    );
  return first > 1 && first < Number.POSITIVE_INFINITY ? first : 0;
}
