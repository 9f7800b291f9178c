import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

/** File names inside a run directory. */
export const runFiles = {
  config: 'run.json',
  journal: 'events.jsonl',
  control: 'control.jsonl',
  annotations: 'annotations.jsonl',
  normal: 'normal.json',
  lock: 'trainer.lock',
  log: 'trainer.log',
  rollouts: 'rollouts',
  checkpoints: 'checkpoints',
  evaluations: 'evaluations',
} as const;

/** A checkpoint's weights; any other model folder calls them so too, where they are one file. */
export const wholeWeights = 'model.safetensors';

/** Beside a checkpoint's weights: what a run needs to go on from it. */
export const trainerState = 'trainer-state.safetensors';

/** Beside a checkpoint's weights where it is pinned: empty. */
export const pinFile = 'pinned';

/** Relative to the run directory: `checkpoints/000050`. */
export const checkpointPath = (iteration: number) =>
  join(runFiles.checkpoints, String(iteration).padStart(6, '0'));

/** The split of the episodes that a run trains on; others are evaluations, by label. */
export const trainSplit = 'train';

export const runIdPattern = /^[a-z0-9-]{1,64}$/;

export const runsFolder = (home: string) => join(home, 'runs');
/** Deleted runs, and studies; see runs/trash.ts. */
export const trashFolder = (home: string) => join(home, 'trash');
/** What is written for TensorBoard while runs train, a folder a run; see exports/tensorboard-writing.ts. */
export const tensorBoardFolder = (home: string) => join(home, 'tensorboard');
export const runFolder = (home: string, runId: string) => join(home, 'runs', runId);

/** Preset, local date and time, and a random part: unique, and sorted by time within a preset. */
export function newRunId(preset: string, now = new Date()): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  const time = `${two(now.getHours())}${two(now.getMinutes())}`;
  const name = preset.replace(/[^a-z0-9-]/g, '-').slice(0, 44);
  return `${name}-${date}-${time}-${randomBytes(2).toString('hex')}`;
}

/** Episode ids such as `000012-train-0037` or `000020-frozen-lake-0005`; null where a text isn't one. */
export function parseEpisodeId(id: string): { iteration: number; split: string; index: number } | null {
  const match = /^(\d{6,})-([a-z0-9-]{1,32})-(\d{4,})$/.exec(id);
  if (!match) return null;
  return { iteration: Number(match[1]), split: match[2]!, index: Number(match[3]) };
}
