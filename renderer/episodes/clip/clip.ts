import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import type { Painting } from '../../player/paintings.ts';
import type { EpisodeFile } from '../episode-files.ts';
import { isLong, learnedOf } from '../learned.ts';

/** One level as a checkpoint played it. */
export interface Stage {
  iteration: number;
  /** Levels of the set that the checkpoint solved, and their total. */
  solved: number;
  levels: number;
  summary: EpisodeSummary;
  /** Name of the on-demand evaluation; null for the run's own. */
  evaluation: string | null;
  painting: Painting;
  /** For each frame: true if an action led to it. */
  moved: readonly boolean[];
}

/** One level at successive checkpoints. */
export interface Clip {
  /** Counted from 1. */
  level: number;
  stages: readonly Stage[];
}

/** Limit that keeps clips short. */
const maxStages = 5;
/** Stages of a collapsed run up to its peak. */
const stagesToPeak = 3;

/**
 * Returns files of one set up to an iteration, oldest first: the first, the last and some evenly spaced between. With `peak`, three of them lead
 * to that iteration and the others follow it. A clip needs at least two.
 */
export function stageFiles(
  files: readonly EpisodeFile[],
  set: string,
  upTo: number,
  peak: number | null = null,
): EpisodeFile[] {
  const filesOfSet = files
    .filter((file) => file.set === set && file.iteration <= upTo)
    .sort((a, b) => a.iteration - b.iteration);
  if (peak === null) return evenly(filesOfSet, maxStages);
  const rising = filesOfSet.filter(({ iteration }) => iteration <= peak);
  // Reversed, so that the last file is always included.
  const falling = filesOfSet.filter(({ iteration }) => iteration > peak).reverse();
  return [...evenly(rising, stagesToPeak), ...evenly(falling, maxStages - stagesToPeak).reverse()];
}

/** Returns `count` evenly spaced items, including the first and the last. */
function evenly<Item>(items: readonly Item[], count: number): Item[] {
  const last = Math.min(count, items.length) - 1;
  if (last < 1) return items.slice(0, 1);
  return Array.from({ length: last + 1 }, (_, at) => items[Math.round((at * (items.length - 1)) / last)]!);
}

/**
 * Returns the index of the level that shows learning best: failed at first, solved at `peak`, and not failed again in between.
 * If `peak` is not the last stage, levels that failed again at the end come first. `stages`: the episodes of each stage; `peak`: an index,
 * by default the last. Null if no level was learned.
 */
export function mostInstructiveLevel(
  stages: readonly (readonly EpisodeSummary[])[],
  peak = stages.length - 1,
): number | null {
  const learned = learnedOf(stages[0] ?? [], stages[peak] ?? []);
  const results = stages.map((episodes) => new Map(episodes.map(({ group, success }) => [group, success])));
  const changes = (group: number) =>
    results.filter((stage, at) => at > 0 && stage.get(group) !== results[at - 1]!.get(group)).length;
  const lost = peak < stages.length - 1 ? learned.filter(({ group }) => results.at(-1)!.get(group) === false) : [];
  const candidates = lost.length > 0 ? lost : learned;
  const long = candidates.filter(isLong);
  const [first] = (long.length > 0 ? long : candidates).toSorted((a, b) => changes(a.group) - changes(b.group));
  return first?.group ?? null;
}

/** A frame on the screen: moves for `moving` ms, then stays for `standing` ms. */
export interface Beat {
  stage: number;
  index: number;
  moving: number;
  standing: number;
}

const motionTime = 200;
const restTime = 140;
const startTime = 900;
const endTime = 1300;
const lastTime = 2600;

/** Returns the clip's frames in order. */
export function beatsOf({ stages }: Clip): Beat[] {
  return stages.flatMap(({ moved }, stage) =>
    moved.map((move, index) => {
      const isEnd = index === moved.length - 1;
      const end = stage === stages.length - 1 ? lastTime : endTime;
      return {
        stage,
        index,
        moving: move && index > 0 ? motionTime : 0,
        standing: isEnd ? end : index === 0 ? startTime : restTime,
      };
    }),
  );
}

/** Returns `Before training` or `Iteration 40`. */
export const stageTitle = ({ iteration }: Pick<Stage, 'iteration'>) =>
  iteration === 0 ? 'Before training' : `Iteration ${iteration}`;

/** Describes the success rate: `22 % of 64 levels solved`. */
export const successText = ({ solved, levels }: Pick<Stage, 'solved' | 'levels'>) =>
  `${Math.round((100 * solved) / levels)} % of ${count(levels, 'level')} solved`;

/** Describes the result: `solved in 4 actions`. */
export function resultText({ summary: { success, actions } }: Pick<Stage, 'summary'>): string {
  const taken = count(actions, 'action');
  return success ? `solved in ${taken}` : `failed after ${taken}`;
}

/** Describes the clip in text. */
export const describeClip = ({ level, stages }: Clip) =>
  `Level ${level}. ${stages.map((stage) => `${stageTitle(stage)}: ${resultText(stage)}, ${successText(stage)}.`).join(' ')}`;
