/**
 * Measures the share of an iteration that diagnostics take at the default interval. Presets train on one thread, with and without the
 * probe set; times come from their journals. Usage: npm run benchmark:diagnostics -- [--iterations 20] [--out FILE]
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { findTrainer, trainerCandidates } from '../core/trainer/executable.ts';
import { commandArguments, machine, writeResult } from './machine.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: { iterations: { type: 'string', default: '20' }, out: { type: 'string' } },
});
const trainer = findTrainer(trainerCandidates(join(root, 'resources')));

const settings: [name: string, preset: string, set: Record<string, unknown>][] = [
  ['FrozenLake by StarPO-S, 16 groups', 'starter-frozen-lake-starpo-s', {}],
  ['FrozenLake by GRPO, 8 groups', 'starter-frozen-lake-grpo', { 'rollout.groups': 8 }],
  ['the same with fixed levels', 'starter-frozen-lake-grpo', { 'rollout.groups': 8, 'diagnostics.probe': true }],
  ['Sokoban by StarPO-S, 16 groups', 'starter-sokoban-starpo-s', {}],
];

async function measure(preset: string, set: Record<string, unknown>) {
  const home = mkdtempSync(join(tmpdir(), 'starpo-diagnostics-'));
  try {
    const all = {
      iterations: Number(values.iterations),
      threads: 1,
      'evaluation.every': 0,
      'checkpoint.every': 0,
      ...set,
    };
    const changes = Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    const made = await run(process.execPath, ['core/host/cli.ts', 'new', preset, ...changes, '--home', home], {
      cwd: root,
    });
    const folder = made.stdout.trim();
    await run(trainer, ['train', folder], { maxBuffer: 2 ** 28 });
    const iterations: Record<string, number>[] = readFileSync(join(folder, 'events.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'iteration')
      .map(({ metrics }) => metrics);
    const seconds = (name: string) => iterations.reduce((sum, metrics) => sum + (metrics[name] ?? 0), 0);
    const every: number = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')).diagnostics.every;
    return {
      every,
      iterations: iterations.length,
      seconds: seconds('time/iteration'),
      diagnostics: seconds('time/diagnostics'),
      share: seconds('time/diagnostics') / seconds('time/iteration'),
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const results: Record<string, Awaited<ReturnType<typeof measure>>> = {};
for (const [name, preset, set] of settings) {
  results[name] = await measure(preset, set);
  const { share, every } = results[name];
  console.error(
    `${name}: diagnostics every ${every} iterations take ${(100 * share).toFixed(1)} % of the training time`,
  );
}
writeResult({ command: `npm run benchmark:diagnostics${commandArguments()}`, machine: machine(), results }, values.out);
