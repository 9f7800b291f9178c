import type { EpisodeSummary } from '../../core/contract/contract.ts';

/** What the members of a group did, all on one level. */
export interface Group {
  group: number;
  environment: string;
  /** Of the level. */
  seed: number;
  members: EpisodeSummary[];
  solved: number;
  /** Of the scores: mean, and unbiased standard deviation; null for a single member. */
  mean: number;
  spread: number | null;
  /** All scores are the same: there is nothing to learn from. */
  same: boolean;
  /** The update trained on it. */
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

/** Sums of the same rewards in another order differ by their rounding, as the trainer has it. */
function areSame(scores: readonly number[]): boolean {
  const least = Math.min(...scores);
  const most = Math.max(...scores);
  return most - least <= 1e-9 * Math.max(1, Math.abs(least), Math.abs(most));
}
