import { estimateMean } from '../../core/studies/interval.ts';
import type { Trained } from './trained-run.ts';

/** What an automatic roll-back gains: pairs of runs with the same settings and seed, left alone and rolled back. */

export interface Pair {
  family: string;
  seed: number;
  notify: Trained;
  rollback: Trained;
}

/** Points below the best before the collapse that still count as saved. */
const saved = 10;

const gainOf = ({ notify, rollback }: Pair) => rollback.last_ten - notify.last_ten;
const hasCollapsed = ({ notify }: Pair) => notify.label !== null && notify.label.collapsed !== null;
const lostIterations = ({ rollback }: Pair) =>
  rollback.rollbacks.reduce((sum, { stopped_at, back_to }) => sum + stopped_at - back_to, 0);

const rounded = (value: number | null) => (value === null ? null : Number(value.toFixed(1)));

/** Returns the mean of paired differences in points with its 95 % interval over pairs; null without pairs. */
function gainIn(pairs: readonly Pair[]) {
  const estimate = estimateMean(pairs.map(gainOf));
  return estimate && { mean: rounded(estimate.mean), low: rounded(estimate.low), high: rounded(estimate.high) };
}

const share = (pairs: readonly Pair[], counts: (pair: Pair) => boolean) =>
  pairs.length === 0 ? null : Number((pairs.filter(counts).length / pairs.length).toFixed(3));

/** Summarizes pairs. A setting is a pair; a family has several seeds. */
export function summarize(pairs: readonly Pair[]) {
  const collapsing = pairs.filter(hasCollapsed);
  const healthy = pairs.filter((pair) => !hasCollapsed(pair));
  const isRolledBack = ({ rollback }: Pair) => rollback.rollbacks.length > 0;
  return {
    pairs: pairs.length,
    gain: gainIn(pairs),
    collapsing: {
      pairs: collapsing.length,
      rolled_back: share(collapsing, isRolledBack),
      /** End within ten points of the best before the collapse. */
      saved: share(collapsing, ({ notify, rollback }) => rollback.last_ten >= notify.best - saved),
      gain: gainIn(collapsing),
      iterations_lost: rounded(estimateMean(collapsing.map(lostIterations))?.mean ?? null),
    },
    healthy: {
      pairs: healthy.length,
      /** Rolled back without need. */
      rolled_back: share(healthy, isRolledBack),
      gain: gainIn(healthy),
      iterations_lost: rounded(estimateMean(healthy.map(lostIterations))?.mean ?? null),
    },
    families: [...Map.groupBy(pairs, ({ family }) => family)].map(([family, own]) => ({
      family,
      pairs: own.length,
      collapsed: own.filter(hasCollapsed).length,
      rolled_back: own.filter(isRolledBack).length,
      gain: gainIn(own),
    })),
  };
}
