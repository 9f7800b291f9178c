/**
 * Measures whether a roll-back saves a run. Trains each seed twice to the same iteration: alone, and with `automatic_action=rollback`, where core
 * rolls back at the warning and applies the advised change. Reports the mean success of the last ten iterations.
 * Usage: npm run benchmark:rescue -- [--preset starter-frozen-lake-trap] [--seeds 1,2,3,4,5] [--set key=value ...] [--workers 2] [--out FILE]
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { labelRun, type Point } from '../../core/echo-trap/collapse-rule.ts';
import { commandArguments, compactJson, machine } from '../machine.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    preset: { type: 'string', default: 'starter-frozen-lake-trap' },
    seeds: { type: 'string', default: '1,2,3,4,5' },
    set: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: '2' },
    out: { type: 'string' },
  },
});
const success = 'rollout/success_rate';
const lastOnes = 10;

/** A run, or its fork after a roll-back. */
interface Part {
  run: string;
  folder: string;
  /** The parent's checkpoint; null for the first run. */
  iteration: number | null;
}

interface Line {
  /** Mean success of the last iterations of the last run, in percent. */
  last_ten: number;
  iterations: number;
  /** Label of the first run by the collapse rule. */
  label: ReturnType<typeof labelRun>;
  rollbacks: { stopped_at: number; back_to: number; changes: unknown }[];
}

const lines = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

function pointsOf(folder: string): Point[] {
  const events = lines(join(folder, 'events.jsonl'));
  return events
    .filter(({ type }) => type === 'iteration' || type === 'evaluation')
    .map(({ iteration, metrics }) => ({ iteration, metrics }));
}

const successes = (points: readonly Point[]) =>
  points.flatMap(({ iteration, metrics }) =>
    metrics[success] === undefined ? [] : { iteration, value: metrics[success] },
  );

/** Returns the fork's settings that differ from its parent's. */
function changesOf(parent: Part, fork: Part): unknown {
  const config = (part: Part) => JSON.parse(readFileSync(join(part.folder, 'run.json'), 'utf8'));
  const flat = (value: unknown, path: string): [string, unknown][] =>
    value !== null && typeof value === 'object'
      ? Object.entries(value).flatMap(([key, each]) => flat(each, path === '' ? key : `${path}.${key}`))
      : [[path, value]];
  const before = new Map(flat(config(parent), ''));
  const own = /^(start|parent|id|name|created)\b/;
  return Object.fromEntries(
    flat(config(fork), '').filter(([path, value]) => !own.test(path) && before.get(path) !== value),
  );
}

async function train(seed: number, action: 'notify' | 'rollback'): Promise<Line> {
  const home = mkdtempSync(join(tmpdir(), 'starpo-rescue-'));
  try {
    const set = [...values.set, `seed=${seed}`, `automatic_action=${action}`].flatMap((each) => ['--set', each]);
    const args = ['core/host/cli.ts', 'train', values.preset, ...set, '--json', '--home', home];
    const { stdout } = await run(process.execPath, args, { cwd: root, maxBuffer: 2 ** 28 });
    const parts: Part[] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'created' || type === 'rolled_back')
      .map(({ run: id, folder, iteration }) => ({ run: id, folder, iteration: iteration ?? null }));
    const ends = parts.map((part) => successes(pointsOf(part.folder)));
    const last = ends.at(-1)!;
    const { rollout } = JSON.parse(readFileSync(join(parts[0]!.folder, 'run.json'), 'utf8'));
    return {
      last_ten: percent(last.slice(-lastOnes).map(({ value }) => value)),
      iterations: last.at(-1)!.iteration,
      label: labelRun(pointsOf(parts[0]!.folder), rollout.groups, rollout.group_size),
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

const percent = (shares: readonly number[]) =>
  Number(((100 * shares.reduce((sum, share) => sum + share, 0)) / shares.length).toFixed(1));

const jobs = values.seeds
  .split(',')
  .map(Number)
  .flatMap((seed) => [
    { seed, action: 'notify' as const },
    { seed, action: 'rollback' as const },
  ]);
const done = new Map<number, Partial<Record<'notify' | 'rollback', Line>>>();

/** Writes the results of seeds trained both ways so far, so that an interruption loses nothing. */
function keep(): void {
  const seeds = [...done]
    .sort(([a], [b]) => a - b)
    .flatMap(([seed, { notify, rollback }]) =>
      notify && rollback ? { seed, left_alone: notify, rolled_back: rollback } : [],
    );
  const summary = {
    seeds: seeds.length,
    higher_with_rollback: seeds.filter(({ left_alone, rolled_back }) => rolled_back.last_ten > left_alone.last_ten)
      .length,
    collapsed_when_left_alone: seeds.filter(({ left_alone }) => left_alone.label?.collapsed != null).length,
  };
  console.log(JSON.stringify(summary));
  const command = `npm run benchmark:rescue${commandArguments()}`;
  const result = { command, machine: machine(), summary, seeds };
  if (values.out) writeFileSync(resolve(values.out), `${compactJson(result)}\n`);
}

const waiting = [...jobs];
await Promise.all(
  Array.from({ length: Number(values.workers) }, async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      const { seed, action } = job;
      const line = await train(seed, action);
      console.log(`seed ${seed}, ${action}: ${JSON.stringify(line)}`);
      done.set(seed, { ...done.get(seed), [action]: line });
      keep();
    }
  }),
);
