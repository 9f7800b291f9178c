import { estimateMean } from '../../core/studies/interval.ts';
import type { Trained } from './trained-run.ts';

/** What an automatic roll-back gains: pairs of runs with the same settings and seed, left alone and rolled back. */

export interface Pair {
  family: string;
  seed: number;
  notify: Trained;
  rollback: Trained;
}

/** Points below the best that still count as saved. */
const saved = 10;

const gainOf = ({ notify, rollback }: Pair) => rollback.last_ten - notify.last_ten;
const lostIterations = ({ rollback }: Pair) =>
  rollback.rollbacks.reduce((sum, { stopped_at, back_to }) => sum + stopped_at - back_to, 0);

/** Groups by what happened to the run that was left alone. */
const groups: Readonly<Record<string, (label: NonNullable<Trained['label']>) => boolean>> = {
  collapsing: ({ collapsed }) => collapsed !== null,
  declining_or_locked: ({ collapsed, kind }) => collapsed === null && ['declining', 'locked'].includes(kind),
  healthy: ({ kind }) => ['healthy', 'solved'].includes(kind),
};

const rounded = (value: number | null) => (value === null ? null : Number(value.toFixed(1)));

const share = (pairs: readonly Pair[], counts: (pair: Pair) => boolean) =>
  pairs.length === 0 ? null : Number((pairs.filter(counts).length / pairs.length).toFixed(3));

function summaryOf(pairs: readonly Pair[]) {
  const gain = estimateMean(pairs.map(gainOf));
  return {
    pairs: pairs.length,
    rolled_back: share(pairs, ({ rollback }) => rollback.rollbacks.length > 0),
    /** Share of the rolled-back side that ends within ten points of the best of the run that was left alone, before its collapse. */
    saved: share(pairs, ({ notify, rollback }) => rollback.last_ten >= notify.best - saved),
    /** Mean of paired differences in points with its 95 % interval over pairs. */
    gain: gain && { mean: rounded(gain.mean), low: rounded(gain.low), high: rounded(gain.high) },
    iterations_lost: rounded(estimateMean(pairs.map(lostIterations))?.mean ?? null),
  };
}

/** Summarizes all pairs, then by group, and by family. A family is one configuration with several seeds, each of which is a pair. */
export function summarize(pairs: readonly Pair[]) {
  const inGroup = (isIn: (typeof groups)[string]) => pairs.filter(({ notify: { label } }) => label && isIn(label));
  return {
    ...summaryOf(pairs),
    groups: Object.fromEntries(Object.entries(groups).map(([name, isIn]) => [name, summaryOf(inGroup(isIn))])),
    families: [...Map.groupBy(pairs, ({ family }) => family)].map(([family, own]) => ({ family, ...summaryOf(own) })),
  };
}
