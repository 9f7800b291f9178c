import type { RunConfig } from './run-config.ts';

const scores: Readonly<Record<string, string>> = {
  reward_std: 'reward standard deviation',
  entropy: 'mean token entropy',
  length: 'mean response tokens per episode',
};

/** Returns whether a run's filter can drop all groups of an iteration. */
export const canKeepNoGroup = ({ filter: { strategy, score }, rollout }: RunConfig): boolean =>
  !['none', 'fraction', 'top_k'].includes(strategy) && score === 'reward_std' && rollout.group_size > 1;

/** Describes the groups that a filter keeps, as a phrase. `filter.strategy` is not `none`. See native/src/algorithm/filter.h. */
export function keptGroups({ strategy, keep, count, score, order }: RunConfig['filter']): string {
  const extreme = order === 'largest' ? 'highest' : 'lowest';
  const ranked = `with the ${extreme} ${scores[score] ?? score}`;
  const share = `${Number((keep * 100).toPrecision(12))} %`;
  switch (strategy) {
    case 'fraction':
      return `the ${share} of groups ${ranked}`;
    case 'top_k':
      return count === 1
        ? `the group of each environment ${ranked}`
        : `the ${count} groups of each environment ${ranked}`;
    case 'softmax':
      return `the groups ${ranked} that make up ${share} of the softmax probability`;
    case 'min_p':
      return order === 'largest'
        ? `the groups with at least ${share} of the highest ${scores[score]}`
        : `the groups for which ${keep} times the ${scores[score]} is at most the lowest non-zero one`;
    default:
      return `the groups ${ranked} that make up ${share} of the total`;
  }
}
