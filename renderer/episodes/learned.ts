import type { EpisodeSummary } from '../../core/contract/contract.ts';
import { isScored } from '../components/episode-result.tsx';
import type { EpisodeFile } from './episode-files.ts';

/** A level that failed at an early checkpoint and was solved at a late one. */
export interface Learned {
  /** Index in the evaluation set. */
  group: number;
  early: EpisodeSummary;
  late: EpisodeSummary;
}

/** Oldest and newest file of an evaluation set, and the best one between them if success dropped after it. */
export interface Span {
  set: string;
  title: string;
  early: EpisodeFile;
  best: EpisodeFile | null;
  late: EpisodeFile;
}

/** Drop of the success rate below the best evaluation that counts as a loss. */
export const minimumDrop = 0.1;

/** Success rate of an evaluation set at an iteration, in [0, 1]; undefined if it was not evaluated. */
export type SuccessAt = (set: string, iteration: number) => number | undefined;

/** Returns one span per evaluation set that at least two checkpoints have played. Without `successAt`, `best` is null. */
export function spansOf(files: readonly EpisodeFile[], successAt: SuccessAt = () => undefined): Span[] {
  const evaluations = files.filter(({ set }) => set !== 'train');
  return [...Map.groupBy(evaluations, ({ set }) => set)].flatMap(([set, own]) => {
    const early = own.at(-1)!;
    const late = own[0]!;
    return early === late ? [] : [{ set, title: late.title, early, best: bestOf(own, successAt), late }];
  });
}

/** Returns the best file of a set, newest first. Null unless it lies between the others and clearly beats the newest. */
function bestOf(files: readonly EpisodeFile[], successAt: SuccessAt): EpisodeFile | null {
  const success = (file: EpisodeFile) => successAt(file.set, file.iteration) ?? -1;
  const best = files.reduce((high, file) => (success(file) > success(high) ? file : high));
  const last = successAt(best.set, files[0]!.iteration);
  const dropped = last !== undefined && success(best) - last >= minimumDrop;
  return dropped && best !== files.at(-1) ? best : null;
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
  const failed = new Map(
    early.filter((episode) => isScored(episode) && !episode.success).map((episode) => [episode.group, episode]),
  );
  const changedReasoning = (level: Learned) => {
    const lengths = [level.early, level.late].map(({ id }) => thoughts.get(id)?.length ?? 0);
    const shorter = Math.min(...lengths);
    return shorter > 0 && Math.max(...lengths) >= minLengthRatio * shorter;
  };
  return late
    .flatMap((episode) => {
      const before = failed.get(episode.group);
      return before && isScored(episode) && episode.success
        ? [{ group: episode.group, early: before, late: episode }]
        : [];
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

/** A level whose result changed between checkpoints, with an episode of each checkpoint. */
export interface ChangedLevel {
  group: number;
  change: 'learned' | 'learned and lost' | 'lost';
  early: EpisodeSummary;
  best: EpisodeSummary | null;
  late: EpisodeSummary;
}

/**
 * Returns the levels whose result changed. A level is learned if the best checkpoint, without one the newest,
 * first solved it, and lost if the newest fails it again. Order: learned and lost, learned, lost; within each as in {@link learnedOf}.
 */
export function changedLevels(
  early: readonly EpisodeSummary[],
  best: readonly EpisodeSummary[] | null,
  late: readonly EpisodeSummary[],
  thoughts = noThoughts,
): ChangedLevel[] {
  const byLevel = (episodes: readonly EpisodeSummary[]) => new Map(episodes.map((each) => [each.group, each]));
  const [earlyOf, bestOf, lateOf] = [byLevel(early), byLevel(best ?? []), byLevel(late)];
  const changed = (levels: readonly Learned[], change: ChangedLevel['change']) =>
    levels.map(({ group }) => ({
      ...{ group, change },
      early: earlyOf.get(group)!,
      best: bestOf.get(group) ?? null,
      late: lateOf.get(group)!,
    }));
  const learned = learnedOf(early, best ?? late, thoughts).filter(({ group }) => lateOf.has(group));
  const isSolved = ({ group }: Learned) => lateOf.get(group)!.success;
  return [
    ...changed(
      learned.filter((level) => !isSolved(level)),
      'learned and lost',
    ),
    ...changed(learned.filter(isSolved), 'learned'),
    // In reverse: failed by the newest checkpoint, solved by the oldest.
    ...changed(learnedOf(late, early, thoughts), 'lost'),
  ];
}
