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

/** Shorter solutions may be luck: the goal was next to the agent. */
const wayMoves = 3;

/** True if the late episode needed several moves. */
export const isWay = ({ late }: Pick<Learned, 'late'>) => late.actions >= wayMoves;

/** Ratio of lengths from which reasoning counts as changed rather than reworded. */
const muchLonger = 2;

const none: ReadonlyMap<string, string> = new Map();

/**
 * Returns the levels learned in between. Order: levels that need several moves, reasoning whose length
 * changed much, fewest turns, most moves. `thoughts`: first reasoning by episode id.
 */
export function learnedOf(
  early: readonly EpisodeSummary[],
  late: readonly EpisodeSummary[],
  thoughts = none,
): Learned[] {
  const failed = new Map(early.filter(({ success }) => !success).map((episode) => [episode.group, episode]));
  const isRethought = (level: Learned) => {
    const lengths = [level.early, level.late].map(({ id }) => thoughts.get(id)?.length ?? 0);
    const shorter = Math.min(...lengths);
    return shorter > 0 && Math.max(...lengths) >= muchLonger * shorter;
  };
  return late
    .flatMap((episode) => {
      const before = failed.get(episode.group);
      return before && episode.success ? [{ group: episode.group, early: before, late: episode }] : [];
    })
    .sort(
      (a, b) =>
        Number(isWay(b)) - Number(isWay(a)) ||
        Number(isRethought(b)) - Number(isRethought(a)) ||
        a.late.turns - b.late.turns ||
        b.late.actions - a.late.actions ||
        a.group - b.group,
    );
}
