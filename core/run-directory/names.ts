import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** File names inside a run directory. */
export const runFiles = {
  config: 'run.json',
  journal: 'events.jsonl',
  control: 'control.jsonl',
  annotations: 'annotations.jsonl',
  forkBaseline: 'fork-baseline.json',
  lock: 'trainer.lock',
  log: 'trainer.log',
  rollouts: 'rollouts',
  checkpoints: 'checkpoints',
  evaluations: 'evaluations',
  panels: 'panels',
} as const;

/** Weights of a checkpoint or of an unsharded model folder. */
export const wholeWeights = 'model.safetensors';

/** Optimizer state of a checkpoint, needed to resume. */
export const trainerState = 'trainer-state.safetensors';

/** Empty marker file of a pinned checkpoint. */
export const pinFile = 'pinned';

/** Relative to the run directory: `checkpoints/000050`. */
export const checkpointPath = (iteration: number) => join(runFiles.checkpoints, String(iteration).padStart(6, '0'));

/** Split of training episodes. Other splits are evaluations, by label. */
export const trainSplit = 'train';

export const runIdPattern = /^[a-z0-9-]{1,64}$/;

export const runsFolder = (home: string) => join(home, 'runs');
/** Deleted runs and sweeps; see run-library/trash.ts. */
export const trashFolder = (home: string) => join(home, 'trash');
/** Live TensorBoard files, one folder per run; see exports/tensorboard-writing.ts. */
export const tensorBoardFolder = (home: string) => join(home, 'tensorboard');
export const runFolder = (home: string, runId: string) => join(home, 'runs', runId);

/** Returns a run id of preset, local time and a random suffix. Ids of a preset sort by time. */
export function newRunId(preset: string): string {
  const now = new Date();
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  const time = `${two(now.getHours())}${two(now.getMinutes())}`;
  const name = preset.replace(/[^a-z0-9-]/g, '-').slice(0, 44);
  return `${name}-${date}-${time}-${randomBytes(2).toString('hex')}`;
}

/** Returns the names in a folder that match a pattern; none if the folder can't be read. */
export function namesIn(folder: string, pattern = /^/): string[] {
  try {
    return readdirSync(folder).filter((name) => pattern.test(name));
  } catch {
    return [];
  }
}

/** Latin letters that Unicode does not decompose into a letter and an accent. */
const latin = new Map(Object.entries({ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }));

/** Returns a string as lowercase words joined by hyphens, as in ids and labels; may be empty. Latin letters lose their accents. */
export const slug = (text: string, maxLength: number): string =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]/g, (letter) => latin.get(letter) ?? letter)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, maxLength);

/** Turns a name such as `my-run (copy)` into an unused run id, with a random suffix if it is taken. */
export function freeRunId(home: string, name: string): string {
  const id = runIdPattern.test(name) ? name : slug(name, 59) || 'run';
  if (!existsSync(runFolder(home, id))) return id;
  return freeRunId(home, `${id.slice(0, 59)}-${randomBytes(2).toString('hex')}`);
}

/** Parses an episode id such as `000012-train-0037` or `000020-frozen-lake-0005`. Returns null for other text. */
export function parseEpisodeId(id: string): { iteration: number; split: string; index: number } | null {
  const match = /^(\d{6,})-([a-z0-9-]{1,32})-(\d{4,})$/.exec(id);
  if (!match) return null;
  return { iteration: Number(match[1]), split: match[2]!, index: Number(match[3]) };
}
