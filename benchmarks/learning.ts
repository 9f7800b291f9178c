/**
 * Measures what a preset learns: trains it with several seeds and compares the outcome of each fixed level before and after, with the
 * same sampling keys. Usage: npm run benchmark:learning -- PRESET [--seeds 1,2,3] [--set key=value ...] [--out FILE]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bootstrapMean } from './bootstrap.ts';
import { commandArguments, machine, writeResult } from './machine.ts';

const root = resolve(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '1,2,3' },
    set: { type: 'string', multiple: true, default: [] },
    out: { type: 'string' },
  },
});
const preset = positionals[0];
if (!preset)
  throw new Error('usage: npm run benchmark:learning -- PRESET [--seeds 1,2,3] [--set key=value ...] [--out FILE]');

const home = mkdtempSync(join(tmpdir(), 'starpo-learning-'));

/** Returns the outcome (0 or 1) of each level in an evaluation's index file. */
function outcomes(folder: string, file: string): number[] {
  const index = JSON.parse(readFileSync(join(folder, 'rollouts', file), 'utf8'));
  return index.episodes.map((episode: { success: boolean }) => Number(episode.success));
}

function trainSeed(seed: number) {
  const set = ['--set', `seed=${seed}`, ...values.set.flatMap((each) => ['--set', each])];
  const cli = (command: string, ...args: string[]) =>
    execFileSync(process.execPath, ['core/host/cli.ts', command, ...args, '--home', home], {
      cwd: root,
      encoding: 'utf8',
    }).trim();
  const folder = cli('new', preset as string, ...set);
  const started = performance.now();
  execFileSync(join(root, 'native/build/starpo-trainer'), ['train', folder], { stdio: 'inherit' });
  const seconds = (performance.now() - started) / 1000;

  const files = readdirSync(join(folder, 'rollouts')).filter(
    (name) => name.endsWith('.index.json') && !name.includes('-train.'),
  );
  const first = files.filter((name) => name.startsWith('000000-')).flatMap((name) => outcomes(folder, name));
  const lastIteration = files
    .map((name) => name.slice(0, 6))
    .sort()
    .at(-1) as string;
  const last = files.filter((name) => name.startsWith(lastIteration)).flatMap((name) => outcomes(folder, name));
  const mean = (list: number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  const curve = readFileSync(join(folder, 'events.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"evaluation"'))
    .map((line) => JSON.parse(line))
    .filter((event) => event.type === 'evaluation')
    .map((event) => [event.iteration, event.metrics[`evaluation/${event.label}/success_rate`]]);
  const differences = last.map((value, level) => value - (first[level] as number));
  return {
    seed,
    seconds: Math.round(seconds),
    iterations: Number(lastIteration),
    before: mean(first),
    after: mean(last),
    gain: bootstrapMean(differences),
    curve,
    differences,
  };
}

const runs = values.seeds.split(',').map((seed) => {
  const run = trainSeed(Number(seed));
  console.error(
    `seed ${seed}: ${(100 * run.before).toFixed(1)} % -> ${(100 * run.after).toFixed(1)} % in ${run.seconds} s, gain ${(100 * run.gain.mean).toFixed(1)} [${(100 * run.gain.low).toFixed(1)}, ${(100 * run.gain.high).toFixed(1)}]`,
  );
  return run;
});
rmSync(home, { recursive: true, force: true });

const pooled = bootstrapMean(runs.flatMap((run) => run.differences));
const result = {
  command: `npm run benchmark:learning${commandArguments()}`,
  machine: machine(),
  preset,
  changes: values.set,
  pooled,
  runs: runs.map(({ differences, ...rest }) => rest),
};
writeResult(result, values.out);
