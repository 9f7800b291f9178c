import type { RunConfig } from './run-config.ts';

/** Number of groups per environment, and of groups trained on. Mirrors native/src/rollout/settings.cpp and native/src/algorithm/filter.cpp. */

/** Tolerance for products of doubles just below a whole number. */
const rounding = 1e-9;

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** Returns the groups per environment, by the largest remainder method. */
export function groupsByEnvironment(environments: RunConfig['environments'], groups: number): number[] {
  const total = sum(environments.map(({ share }) => share));
  const exact = environments.map(({ share }) => (groups * share) / total);
  const result = exact.map(Math.floor);
  const byRemainder = [...exact.keys()].toSorted((a, b) => (exact[b]! % 1) - (exact[a]! % 1));
  for (const i of byRemainder.slice(0, groups - sum(result))) result[i]! += 1;
  return result;
}

/** Whether updates include groups of earlier iterations. */
export const replaysGroups = ({ iterations, share }: RunConfig['replay']) => iterations > 0 && share > 0;

/** Returns the maximum number of episodes of an iteration that it can train on, without replayed ones. `fraction` and `top_k` keep at least one group per environment; other filters may keep all. */
export function mostTrainedEpisodes({ environments, filter, rollout }: RunConfig): number {
  const { groups, group_size } = rollout;
  const ranks = ranksGroups({ filter, rollout });
  const mostKept = (own: number) => {
    if (ranks && filter.strategy === 'fraction') return Math.max(1, Math.floor(filter.keep * own + rounding));
    return ranks && filter.strategy === 'top_k' ? Math.min(filter.count, own) : own;
  };
  const trained = groupsByEnvironment(environments, groups).filter((own) => own > 0);
  return sum(trained.map(mostKept)) * group_size;
}

/** Single episodes all have a reward std of 0. */
const ranksGroups = ({ filter, rollout }: Pick<RunConfig, 'filter' | 'rollout'>) =>
  rollout.group_size > 1 || filter.score !== 'reward_std';

/** Whether the filter can drop a group. Mirrors native/src/config/idle_settings.cpp. */
export function canDropGroups(config: RunConfig): boolean {
  const { filter, rollout } = config;
  if (filter.strategy === 'none' || !ranksGroups(config)) return false;
  const keepsNumber = ['fraction', 'top_k'].includes(filter.strategy);
  return !keepsNumber || mostTrainedEpisodes(config) < rollout.groups * rollout.group_size;
}

/** Whether the policy takes one optimizer step per iteration on its own samples, so that every ratio is 1. Mirrors native/src/config/idle_settings.cpp. */
export const takesOneStep = (config: RunConfig): boolean => config.policy_loss.epochs === 1 && fitsMiniBatch(config);

/** Whether all episodes of an update fit into one mini-batch. */
export const fitsMiniBatch = (config: RunConfig): boolean =>
  mostTrainedEpisodes(config) <= config.policy_loss.mini_batch && !replaysGroups(config.replay);
