import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { labelRun, type Point } from '../../core/echo-trap/collapse-rule.ts';
import { commandOutput } from './resumable.ts';

/** Trains runs through the app's command line, with its automatic actions. */

export const root = resolve(import.meta.dirname, '../..');

/** A run, or its fork after a roll-back. */
interface Part {
  folder: string;
  /** The parent's checkpoint; null for the first run. */
  iteration: number | null;
}

/** A run and the forks that continued it. */
export interface Trained {
  /** Mean success of the last ten iterations of the last run, in percent. */
  last_ten: number;
  /** Highest mean over ten iterations: of the first run, and up to its onset if it collapsed. */
  best: number;
  iterations: number;
  /** Label of the first run by the collapse rule. */
  label: ReturnType<typeof labelRun>;
  rollbacks: { stopped_at: number; back_to: number; changes: unknown }[];
}

const success = 'rollout/success_rate';
const window = 10;

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

/** Returns the points of a run directory's journal. */
export function pointsOf(folder: string): Point[] {
  const events = readFileSync(join(folder, 'events.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return events
    .filter(({ type }) => type === 'iteration' || type === 'evaluation')
    .map(({ iteration, metrics }) => ({ iteration, metrics }));
}

const successes = (points: readonly Point[]) =>
  points.flatMap(({ iteration, metrics }) =>
    metrics[success] === undefined ? [] : { iteration, value: metrics[success] },
  );

/** Returns the highest mean of a window that ends at or before an iteration, or of fewer values if there are not more. */
export function bestMean(points: readonly Point[], until = Number.POSITIVE_INFINITY): number {
  const values = successes(points)
    .filter(({ iteration }, i) => i === 0 || iteration <= until)
    .map(({ value }) => value);
  const size = Math.min(window, values.length);
  return Math.max(...values.slice(size - 1).map((_, i) => percent(values.slice(i, i + size))));
}

const percent = (shares: readonly number[]) =>
  Number(((100 * shares.reduce((sum, share) => sum + share, 0)) / shares.length).toFixed(1));

/** Returns the fork's settings that differ from its parent's. */
function changesOf(parent: Part, fork: Part): unknown {
  const flat = (value: unknown, path: string): [string, unknown][] =>
    value !== null && typeof value === 'object'
      ? Object.entries(value).flatMap(([key, each]) => flat(each, path === '' ? key : `${path}.${key}`))
      : [[path, value]];
  const before = new Map(flat(readJson(join(parent.folder, 'run.json')), ''));
  // A fork measures drift from the start weights of its parent.
  const own = /^(start|parent|id|name|created|kl\.reference)\b/;
  return Object.fromEntries(
    flat(readJson(join(fork.folder, 'run.json')), '').filter(
      ([path, value]) => !own.test(path) && before.get(path) !== value,
    ),
  );
}

/** Trains a preset with changed settings in a temporary data folder. Follows automatic roll-backs to the last run. */
export async function trainWithActions(preset: string, set: Record<string, unknown>): Promise<Trained> {
  const home = mkdtempSync(join(tmpdir(), 'starpo-trained-'));
  try {
    const changes = Object.entries(set).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    const args = ['core/host/cli.ts', 'train', preset, ...changes, '--json', '--home', home];
    const output = await commandOutput(process.execPath, args, root);
    const parts: Part[] = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'created' || type === 'rolled_back')
      .map(({ folder, iteration }) => ({ folder, iteration: iteration ?? null }));
    const points = parts.map(({ folder }) => pointsOf(folder));
    const ends = points.map(successes);
    const last = ends.at(-1)!;
    const { rollout } = readJson(join(parts[0]!.folder, 'run.json'));
    const label = labelRun(points[0]!, rollout.groups, rollout.group_size);
    return {
      last_ten: percent(last.slice(-window).map(({ value }) => value)),
      best: bestMean(points[0]!, label?.collapsed ?? undefined),
      iterations: last.at(-1)!.iteration,
      label,
      rollbacks: parts.slice(1).map((part, i) => ({
        stopped_at: ends[i]!.at(-1)!.iteration,
        back_to: part.iteration!,
        changes: changesOf(parts[i]!, part),
      })),
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
