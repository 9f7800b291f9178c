import type { EpisodeSummary } from '../../core/contract/contract.ts';
import { isScored } from '../components/episode-result.tsx';

/** The episodes of one group, which share a level. */
export interface Group {
  group: number;
  environment: string;
  /** Seed of the level. */
  seed: number;
  members: EpisodeSummary[];
  /** Number of void episodes. The figures below exclude them. */
  voids: number;
  solved: number;
  /** Mean of the rewards; null if all episodes are void. */
  mean: number | null;
  /** Sample standard deviation of the rewards (n - 1); null for fewer than two scored episodes. */
  rewardStd: number | null;
  /** True if two or more rewards are all equal, so that advantages are zero. */
  zeroVariance: boolean;
  /** True if the update trained on the group. */
  kept: boolean;
}

/** Returns the groups of a file's episodes, in order. */
export function groupsOf(episodes: readonly EpisodeSummary[]): Group[] {
  const byGroup = Map.groupBy(episodes, ({ group }) => group);
  return [...byGroup.entries()]
    .sort(([a], [b]) => a - b)
    .map(([group, unsorted]) => {
      const members = unsorted.toSorted((a, b) => a.member - b.member);
      const scored = members.filter(isScored);
      const rewards = scored.map(({ reward }) => reward);
      const mean = rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
      const { environment, seed } = members[0]!;
      return {
        ...{ group, environment, seed, members, mean },
        voids: members.length - scored.length,
        solved: scored.filter(({ success }) => success).length,
        rewardStd: mean === null || rewards.length < 2 ? null : deviation(rewards, mean),
        zeroVariance: rewards.length > 1 && areEqual(rewards),
        kept: members.some(({ kept }) => kept),
      };
    });
}

function deviation(rewards: readonly number[], mean: number): number {
  const squares = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  return Math.sqrt(squares / (rewards.length - 1));
}

/** Compares with a tolerance, as the trainer does: sums of the same rewards in another order differ slightly. */
function areEqual(rewards: readonly number[]): boolean {
  const least = Math.min(...rewards);
  const most = Math.max(...rewards);
  return most - least <= 1e-9 * Math.max(1, Math.abs(least), Math.abs(most));
}

/** Describes how many episodes were solved, such as `3 of 7 solved, 1 void`. */
export const solvedText = ({ solved, members, voids }: Pick<Group, 'solved' | 'members' | 'voids'>): string =>
  `${solved} of ${members.length - voids} solved${voids > 0 ? `, ${voids} void` : ''}`;
