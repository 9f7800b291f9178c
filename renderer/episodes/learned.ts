import type { EpisodeSummary } from '../../core/contract/contract.ts';
import type { EpisodeFile } from './episode-files.ts';

/** A level that failed at an early checkpoint and was solved at a late one. */
export interface Learned {
  /** Index in the evaluation set. */
  group: number;
  early: EpisodeSummary;
  late: EpisodeSummary;
}

/** Oldest and newest file of an evaluation set. */
export interface Span {
  set: string;
  title: string;
  early: EpisodeFile;
  late: EpisodeFile;
}

/** Returns one span per evaluation set that at least two checkpoints have played. */
export function spansOf(files: readonly EpisodeFile[]): Span[] {
  const evaluations = files.filter(({ set }) => set !== 'train');
  return [...Map.groupBy(evaluations, ({ set }) => set)].flatMap(([set, own]) => {
    const early = own.at(-1)!;
    const late = own[0]!;
    return early === late ? [] : [{ set, title: late.title, early, late }];
  });
}

/** Minimum number of actions. Shorter solutions may be luck, because the goal was next to the agent. */
const longSolution = 3;

/** Returns whether the late episode needed several actions. */
export const isLong = ({ late }: Pick<Learned, 'late'>) => late.actions >= longSolution;

/** Minimum ratio of lengths for reasoning to count as changed rather than reworded. */
const minLengthRatio = 2;

const noThoughts: ReadonlyMap<string, string> = new Map();

/**
 * Returns the levels learned in between. Order: levels that need several actions, reasoning whose length changed
 * much, fewest turns, most actions. `thoughts`: first reasoning by episode id.
 */
export function learnedOf(
  early: readonly EpisodeSummary[],
  late: readonly EpisodeSummary[],
  thoughts = noThoughts,
): Learned[] {
  const failed = new Map(early.filter(({ success }) => !success).map((episode) => [episode.group, episode]));
  const changedReasoning = (level: Learned) => {
    const lengths = [level.early, level.late].map(({ id }) => thoughts.get(id)?.length ?? 0);
    const shorter = Math.min(...lengths);
    return shorter > 0 && Math.max(...lengths) >= minLengthRatio * shorter;
  };
  return late
    .flatMap((episode) => {
      const before = failed.get(episode.group);
      return before && episode.success ? [{ group: episode.group, early: before, late: episode }] : [];
    })
    .sort(
      (a, b) =>
        Number(isLong(b)) - Number(isLong(a)) ||
        Number(changedReasoning(b)) - Number(changedReasoning(a)) ||
        a.late.turns - b.late.turns ||
        b.late.actions - a.late.actions ||
        a.group - b.group,
    );
}
