import type { EpisodeSummary } from '../../core/contract/contract.ts';
import type { EpisodeFile } from './episode-files.ts';

/** A level that failed at an early checkpoint and was solved at a late one. */
export interface Learned {
  /** Its place in the set, from 0 on. */
  group: number;
  early: EpisodeSummary;
  late: EpisodeSummary;
}

/** Two files of one set, the oldest and the newest; null where there is only one checkpoint. */
export interface Span {
  set: string;
  title: string;
  early: EpisodeFile;
  late: EpisodeFile;
}

/** Of every evaluation set that more than one checkpoint has played. */
export function spansOf(files: readonly EpisodeFile[]): Span[] {
  const evaluations = files.filter(({ set }) => set !== 'train');
  return [...Map.groupBy(evaluations, ({ set }) => set)].flatMap(([set, own]) => {
    const early = own.at(-1)!;
    const late = own[0]!;
    return early === late ? [] : [{ set, title: late.title, early, late }];
  });
}

/** Fewer moves may be luck: the goal lay beside the agent. */
const wayMoves = 3;

/** Whether the late episode went some way to its goal. */
export const isWay = ({ late }: Pick<Learned, 'late'>) => late.actions >= wayMoves;

/** Times as long a thought is where it says more rather than the same in other words. */
const muchLonger = 2;

const none: ReadonlyMap<string, string> = new Map();

/**
 * The levels that were learned in between: first those whose goal is some way off, of these the ones that are thought of in much longer or shorter words than before, of these
 * the ones solved in the fewest turns, and of these the longest. `thoughts`: the first of each episode, by its id.
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
