import type { RunConfig } from './run-config.ts';

/** How an iteration's groups are dealt out, and how many are trained on, as the trainer has it (native/src/rollout/settings.cpp, native/src/algorithm/filter.cpp). */

/** What a product of doubles may fall short of the number that was meant. */
const rounding = 1e-9;

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** Groups of each environment: the whole ones of its share, and one more for the largest remainders. */
export function groupsByEnvironment(environments: RunConfig['environments'], groups: number): number[] {
  const total = sum(environments.map(({ share }) => share));
  const exact = environments.map(({ share }) => (groups * share) / total);
  const result = exact.map(Math.floor);
  const byRemainder = [...exact.keys()].toSorted((a, b) => (exact[b]! % 1) - (exact[a]! % 1));
  for (const i of byRemainder.slice(0, groups - sum(result))) result[i]! += 1;
  return result;
}

/** The most episodes that an iteration can train on. A fraction is kept of each environment's groups, at least one; any other filter may keep them all. */
export function mostTrainedEpisodes({ environments, filter, rollout }: RunConfig): number {
  const { groups, group_size } = rollout;
  const chooses = filter.strategy === 'fraction' && group_size > 1;
  const mostKept = (own: number) => (chooses ? Math.max(1, Math.floor(filter.keep * own + rounding)) : own);
  const trained = groupsByEnvironment(environments, groups).filter((own) => own > 0);
  return sum(trained.map(mostKept)) * group_size;
}
