/**
 * Compares algorithms for the starter after the same episodes and iterations, and a reasoning-aware reward with none. A short screening of all algorithms
 * selects those that the comparison trains with five other seeds, on levels on which nothing was selected. Creates the sweeps in a data folder with
 * --create; `starpo sweep start SWEEP` trains them. Without it, reports the completed runs.
 * Usage: npm run benchmark:algorithms -- --home FOLDER [--create screening|comparison] [--device cuda] [--out FILE]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Output, Settings } from '../core/contract/contract.ts';
import { findPreset } from '../core/presets/presets.ts';
import { estimateMean } from '../core/studies/interval.ts';
import { commandArguments, machine, writeResult } from './machine.ts';

const { values } = parseArgs({
  options: {
    home: { type: 'string' },
    create: { type: 'string' },
    device: { type: 'string', default: 'cpu' },
    out: { type: 'string' },
  },
});
const { home } = values;
if (!home) throw new Error('Give a data folder with --home.');

const algorithms = ['starpo-s', 'ppo', 'grpo-s', 'grpo', 'starpo-s-v2', 'gigpo', 'bi-level-gae', 'loop'] as const;
type Algorithm = (typeof algorithms)[number];

/** Changes that all runs have in common. The screening's levels and seeds are not used again. */
const common = { threads: 1, 'checkpoint.every': 0, 'evaluation.every': 0, 'evaluation.levels': 1024 };
const screening = {
  set: { ...common, iterations: 40, 'levels.validation_seed': 20_261_127 },
  seeds: [11, 12],
};
const comparison = {
  set: { ...common, iterations: 100, 'levels.validation_seed': 20_261_126 },
  seeds: [1, 2, 3, 4, 5],
};

/** Returns the values of a configuration that differ from another's, by dotted path. */
function differences(from: object, to: object, path = ''): Settings {
  const entries = Object.entries(to).flatMap(([key, value]): [string, unknown][] => {
    const before = (from as Record<string, unknown>)[key];
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return Object.entries(differences(before as object, value, `${path}${key}.`));
    return JSON.stringify(before) === JSON.stringify(value) ? [] : [[path + key, value]];
  });
  return Object.fromEntries(entries) as Settings;
}

/** Returns the sweep of a task's algorithms, each as changes to StarPO-S. */
function algorithmSweep(title: string, task: string, compared: readonly Algorithm[]) {
  const base = `starter-${task}-starpo-s`;
  const points = compared.map((suffix) => {
    const { preset: _, ...set } = differences(findPreset(base).config, findPreset(`starter-${task}-${suffix}`).config);
    return { name: suffix, set };
  });
  return { name: `${title}: ${task}`, base: { preset: base }, points };
}

const groundingSweep = (task: string) => ({
  ...{ name: `Grounding: ${task}`, base: { preset: `starter-${task}-starpo-s` } },
  points: [0, 0.5].map((weight) => ({ name: `weight ${weight}`, set: { 'reward.grounding_weight': weight } })),
});

const stages = {
  screening: ['frozen-lake', 'sokoban'].map((task) => ({
    ...algorithmSweep('Screening', task, algorithms),
    ...screening,
  })),
  comparison: [
    ...['frozen-lake', 'sokoban', 'frozen-lake-slippery'].map((task) => algorithmSweep('Algorithms', task, algorithms)),
    ...['frozen-lake', 'sokoban'].map(groundingSweep),
  ].map((sweep) => ({ ...sweep, ...comparison })),
};
type Stage = keyof typeof stages;

const starpo = (...args: string[]) =>
  execFileSync(process.execPath, ['core/host/cli.ts', ...args, '--home', home], {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });

function create(stage: Stage): void {
  const folder = mkdtempSync(join(tmpdir(), 'starpo-sweeps-'));
  try {
    for (const { set, ...sweep } of stages[stage]) {
      const file = join(folder, 'sweep.json');
      writeFileSync(file, JSON.stringify({ ...sweep, set: { ...set, device: values.device } }));
      process.stdout.write(starpo('sweep', 'new', file));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the mean of a metric over the last ten iterations that have it. */
function lastTen(runId: string, iterations: number, metric: string): number {
  const lines = readFileSync(join(home as string, 'runs', runId, 'events.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  const values = lines.flatMap((line): number[] => {
    const { type, iteration, metrics } = JSON.parse(line);
    return type === 'iteration' && iteration > iterations - 10 && metric in metrics ? [metrics[metric]] : [];
  });
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Reports success on the evaluation's levels after training, and variety at the end, with intervals over seeds. */
function report(): void {
  const listed: Output<'studies.list'> = JSON.parse(starpo('sweep', 'list', '--json'));
  const sweeps = Object.values(stages).flat();
  const results = sweeps.flatMap(({ name, set }) => {
    const found = listed.find((each) => each.name === name);
    if (!found) return [];
    const { table }: Output<'studies.get'> = JSON.parse(starpo('sweep', 'show', found.id, '--json'));
    const rows = table.map(({ name: setting, after, collapse, cells }) => {
      const completed = cells.filter(({ status }) => status === 'completed').map(({ runId }) => runId);
      const over = (metric: string) => estimateMean(completed.map((runId) => lastTen(runId, set.iterations, metric)));
      return {
        ...{ setting, after, collapse },
        distinct_first_thoughts: over('rollout/distinct_first_thoughts'),
        mutual_information: over('diagnostics/mutual_information'),
      };
    });
    return { sweep: name, rows };
  });
  writeResult(
    { command: `npm run benchmark:algorithms${commandArguments()}`, machine: machine(), results },
    values.out,
  );
}

if (values.create === undefined) report();
else if (values.create in stages) create(values.create as Stage);
else throw new Error(`--create is one of: ${Object.keys(stages).join(', ')}.`);
