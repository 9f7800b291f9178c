/**
 * Trains the missing labeled runs of run-list.json and keeps what the detectors read: run.json, the journal's iterations and evaluations,
 * and the label of docs/collapse-rule.md. Can be interrupted and repeated. Usage: npm run benchmark:echo-trap-runs -- [--workers 2] [--only PATTERN] [--into FOLDER]
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual, parseArgs, promisify } from 'node:util';
import { constants, zstdCompressSync } from 'node:zlib';
import { labelRun, type Point } from '../../core/echo-trap/collapse-rule.ts';
import type { Tree } from '../../core/run-config/tree.ts';
import { isMachineMetric } from '../../core/run-directory/metrics.ts';
import { findTrainer, trainerCandidates } from '../../core/trainer/executable.ts';
import base from './base.json' with { type: 'json' };
import list from './run-list.json' with { type: 'json' };

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    into: { type: 'string', default: import.meta.dirname },
  },
});
const trainer = findTrainer(trainerCandidates(join(root, 'resources')));

interface Job {
  folder: string;
  preset: string;
  set: Record<string, unknown>;
}

/** Returns one seed of every family before the next, so that partial results cover all families. */
function jobs(): Job[] {
  const most = Math.max(...list.families.map(({ seeds }) => seeds.length));
  const rounds = Array.from({ length: most }, (_, round) =>
    list.families.flatMap(({ name, part, preset, iterations, seeds, set }) => {
      const seed = seeds[round];
      if (seed === undefined || !new RegExp(values.only).test(name)) return [];
      const folder = join(values.into, part, `${name}-seed-${seed}`);
      return [{ folder, preset, set: { ...list.common, ...levelsOf(seed), iterations, seed, ...set } }];
    }),
  );
  return rounds.flat().filter(({ folder }) => !existsSync(join(folder, journal)));
}

/** Separate training levels per seed, far from the evaluated ones: with shared levels all runs would dip in the same iterations. */
const levelsOf = (seed: number) => ({ 'levels.train_seed': 50_000_000 + 100_000 * seed });

const journal = 'events.jsonl.zst';

const rounded = (value: number) => Number(value.toPrecision(6));

/** Settings of `config` that differ from those of `base`, by dotted path. Objects with other keys and lists of other lengths are stored whole. */
function differences(base: unknown, config: unknown, path: string[] = []): [string, unknown][] {
  const before = keysOf(base);
  const after = keysOf(config);
  if (before === null || after === null || before.join() !== after.join()) {
    if (path.length === 0) throw new Error('base.json and run.json have different sections. Update base.json.');
    return isDeepStrictEqual(base, config) ? [] : [[path.join('.'), config]];
  }
  return after.flatMap((key) => differences((base as Tree)[key], (config as Tree)[key], [...path, key]));
}

const keysOf = (value: unknown) => (typeof value === 'object' && value !== null ? Object.keys(value) : null);

/** Stores the required files of a finished run; the folder appears complete or not at all. */
function keep(from: string, into: string): string {
  const config = JSON.parse(readFileSync(join(from, 'run.json'), 'utf8'));
  config.start.model = 'starter';
  const events = readFileSync(join(from, 'events.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === 'iteration' || type === 'evaluation');
  const points: Point[] = [];
  const lines = events.map(({ updates, metrics: all, ...event }) => {
    const read = Object.entries<number>(all).filter(([name]) => !isMachineMetric(name));
    const metrics = Object.fromEntries(read.map(([name, value]) => [name, rounded(value)]));
    points.push({ iteration: event.iteration, metrics });
    return JSON.stringify({ ...event, metrics });
  });
  const label = labelRun(points, config.rollout.groups, config.rollout.group_size);
  const part = `${into}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const set = Object.fromEntries(differences(base, config));
  writeFileSync(join(part, 'run.json'), `${JSON.stringify({ base: '../../base.json', set })}\n`);
  writeFileSync(
    join(part, journal),
    zstdCompressSync(`${lines.join('\n')}\n`, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }),
  );
  if (label) writeFileSync(join(part, 'label.json'), `${JSON.stringify(label)}\n`);
  rmSync(into, { recursive: true, force: true });
  renameSync(part, into);
  return JSON.stringify(label);
}

async function make({ folder, preset, set }: Job): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'starpo-labeled-'));
  try {
    const changes = Object.entries(set).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    const { stdout } = await run(process.execPath, ['core/host/cli.ts', 'new', preset, ...changes, '--home', home], {
      cwd: root,
    });
    const started = performance.now();
    await run('nice', ['-n', '10', trainer, 'train', stdout.trim()], { maxBuffer: 2 ** 28 });
    const label = keep(stdout.trim(), folder);
    const minutes = (performance.now() - started) / 60_000;
    console.log(`${folder.split('/').slice(-2).join('/')}: ${label} in ${minutes.toFixed(1)} min`);
  } catch (error) {
    console.error(`${folder}: ${error instanceof Error ? error.message : error}`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const waiting = jobs();
console.log(`${waiting.length} runs to train`);
await Promise.all(
  Array.from({ length: Number(values.workers) }, async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) await make(job);
  }),
);
