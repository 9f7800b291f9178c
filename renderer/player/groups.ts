import type { EpisodeSummary } from '../../core/contract/contract.ts';

/** The episodes of one group, which share a level. */
export interface Group {
  group: number;
  environment: string;
  /** Seed of the level. */
  seed: number;
  members: EpisodeSummary[];
  solved: number;
  /** Mean and unbiased standard deviation of the scores; `spread` is null for a single episode. */
  mean: number;
  spread: number | null;
  /** All scores are equal, so that advantages are zero. */
  same: boolean;
  /** True if the update trained on the group. */
  kept: boolean;
}

/** In order. */
export function groupsOf(episodes: readonly EpisodeSummary[]): Group[] {
  const byGroup = Map.groupBy(episodes, ({ group }) => group);
  return [...byGroup.entries()]
    .sort(([a], [b]) => a - b)
    .map(([group, unsorted]) => {
      const members = unsorted.toSorted((a, b) => a.member - b.member);
      const scores = members.map(({ reward }) => reward);
      const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
      const { environment, seed } = members[0]!;
      return {
        ...{ group, environment, seed, members, mean },
        solved: members.filter(({ success }) => success).length,
        spread: scores.length < 2 ? null : deviation(scores, mean),
        same: scores.length > 1 && areSame(scores),
        kept: members.some(({ kept }) => kept),
      };
    });
}

function deviation(scores: readonly number[], mean: number): number {
  const squares = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0);
  return Math.sqrt(squares / (scores.length - 1));
}

/** Allows for rounding, as the trainer does: sums of the same rewards in another order differ slightly. */
function areSame(scores: readonly number[]): boolean {
  const least = Math.min(...scores);
  const most = Math.max(...scores);
  return most - least <= 1e-9 * Math.max(1, Math.abs(least), Math.abs(most));
}
