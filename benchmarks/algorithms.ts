/**
 * Compares algorithms for the starter after equal compute, and a reasoning-aware reward with none. `costs` measures the seconds per iteration, from which
 * the numbers of iterations follow; `screening` trains all algorithms on FrozenLake; `comparison` trains the three best and StarPO-S on every task with
 * other seeds, on levels that nothing else uses; `grounding` adds the reward to the best. Creates a stage's sweeps in a data folder with --create;
 * `starpo sweep start SWEEP` trains them. Without it, reports the completed runs.
 * Usage: npm run benchmark:algorithms -- --home FOLDER [--create costs|screening|comparison|grounding] [--device cuda] [--out FILE]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Output, Settings } from '../core/contract/contract.ts';
import { mean, median } from '../core/echo-trap/track.ts';
import { findPreset } from '../core/presets/presets.ts';
import { estimateMean } from '../core/studies/interval.ts';
import { machine, writeResult } from './machine.ts';

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

type Task = 'frozen-lake' | 'sokoban' | 'frozen-lake-slippery';

/** Seconds per iteration on FrozenLake and on Sokoban, on one thread of an otherwise idle CPU. A later run of `costs`, in the results, differs by up to 15 %. */
const costs = {
  'starpo-s': [6.8, 13.7],
  ppo: [12.6, 25.3],
  'grpo-s': [4.1, 7.5],
  grpo: [6.3, 11.5],
  'starpo-s-v2': [9.9, 17.7],
  gigpo: [4.0, 8.0],
  'bi-level-gae': [7.0, 12.7],
  loop: [4.2, 7.6],
} satisfies Record<string, [frozenLake: number, sokoban: number]>;
type Algorithm = keyof typeof costs;
const algorithms = Object.keys(costs) as Algorithm[];
/** StarPO-S and the three algorithms with the highest success in the screening. */
const finalists: Algorithm[] = ['starpo-s', 'grpo-s', 'gigpo', 'loop'];
/** The algorithm with the highest success in the comparison's first two seeds. Check it against all five before creating `grounding`. */
const best: Algorithm = 'gigpo';

/** Returns the iterations that cost as much as `base` iterations of StarPO-S. */
function iterationsOf(algorithm: Algorithm, task: Task, base: number): number {
  const column = task === 'sokoban' ? 1 : 0;
  return Math.round((base * costs['starpo-s'][column]!) / costs[algorithm][column]!);
}

const common = { threads: 1, 'checkpoint.every': 0, 'evaluation.every': 0 };
const comparison = { iterations: 40, levels: 1024, validationSeed: 20_261_126, seeds: [1, 2, 3, 4, 5] };
/** Grounding continues the comparison; the other stages have their own levels and seeds. */
const stages = {
  costs: { iterations: 4, levels: 1, validationSeed: 20_261_128, seeds: [21] },
  screening: { iterations: 40, levels: 1024, validationSeed: 20_261_127, seeds: [11, 12] },
  comparison,
  grounding: comparison,
};
type Stage = keyof typeof stages;

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
function algorithmSweep(stage: Stage, task: Task) {
  const base = `starter-${task}-starpo-s`;
  const points = (stage === 'comparison' ? finalists : algorithms).map((suffix) => {
    const { preset: _, ...set } = differences(findPreset(base).config, findPreset(`starter-${task}-${suffix}`).config);
    const { iterations } = stages[stage];
    return {
      name: suffix,
      set: { ...set, iterations: stage === 'costs' ? iterations : iterationsOf(suffix, task, iterations) },
    };
  });
  return { name: `${titles[stage]}: ${task}`, base: { preset: base }, points };
}

const titles = { costs: 'Costs', screening: 'Screening', comparison: 'Algorithms', grounding: 'Grounding' };

/** Returns the sweep of the comparison's best algorithm with a reasoning-aware reward. Its runs differ from the comparison's only in the weight. */
function groundingSweep(task: Task) {
  const iterations = iterationsOf(best, task, stages.grounding.iterations);
  const points = [{ name: 'weight 0.5', set: { 'reward.grounding_weight': 0.5, iterations } }];
  return { name: `${titles.grounding}: ${task}`, base: { preset: `starter-${task}-${best}` }, points };
}

const sweeps = {
  costs: (['frozen-lake', 'sokoban'] as const).map((task) => algorithmSweep('costs', task)),
  screening: [algorithmSweep('screening', 'frozen-lake')],
  comparison: (['frozen-lake', 'sokoban', 'frozen-lake-slippery'] as const).map((task) =>
    algorithmSweep('comparison', task),
  ),
  grounding: (['frozen-lake', 'sokoban'] as const).map(groundingSweep),
};

const starpo = (...args: string[]) =>
  execFileSync(process.execPath, ['core/host/cli.ts', ...args, '--home', home], {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });

function create(stage: Stage): void {
  const { levels, validationSeed, seeds } = stages[stage];
  const set = {
    ...common,
    'evaluation.levels': levels,
    'levels.validation_seed': validationSeed,
    device: values.device,
  };
  const folder = mkdtempSync(join(tmpdir(), 'starpo-sweeps-'));
  try {
    for (const sweep of sweeps[stage]) {
      const file = join(folder, 'sweep.json');
      writeFileSync(file, JSON.stringify({ ...sweep, set, seeds }));
      process.stdout.write(starpo('sweep', 'new', file));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const eventsOf = (runId: string) =>
  readFileSync(join(home as string, 'runs', runId, 'events.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Returns a metric's values by iteration. */
const valuesOf = (runId: string, metric: string) =>
  eventsOf(runId).flatMap(({ type, metrics }): number[] =>
    type === 'iteration' && metric in metrics ? [metrics[metric]] : [],
  );

/** Returns the version and commit of the trainer that started a run. */
const trainerOf = (runId: string): string => eventsOf(runId).find(({ type }) => type === 'started').build;

/** Reports success on the evaluation's levels after training, and variety over the last ten iterations. */
function report(): void {
  const listed: Output<'studies.list'> = JSON.parse(starpo('sweep', 'list', '--json'));
  const results = Object.entries(sweeps)
    .flatMap(([stage, each]) => each.map((sweep) => ({ stage, ...sweep })))
    .flatMap(({ stage, name, points }) => {
      const found = listed.find((each) => each.name === name);
      if (!found || found.runs.completed === 0) return [];
      const { table }: Output<'studies.get'> = JSON.parse(starpo('sweep', 'show', found.id, '--json'));
      const rows = table.map(({ name: setting, after, collapse, cells }, index) => {
        const completed = cells.filter(({ status }) => status === 'completed').map(({ runId }) => runId);
        const variety = (metric: string) =>
          estimateMean(completed.map((runId) => mean(valuesOf(runId, metric).slice(-10))));
        return {
          ...{ setting, iterations: points[index]!.set.iterations, after, collapse },
          trainers: [...new Set(completed.map(trainerOf))],
          distinct_first_thoughts: variety('rollout/distinct_first_thoughts'),
          mutual_information: variety('diagnostics/mutual_information'),
          // Other stages train several runs at once.
          ...(stage === 'costs' && {
            seconds_per_iteration: estimateMean(completed.map((runId) => median(valuesOf(runId, 'time/iteration')))),
          }),
        };
      });
      return { sweep: name, rows };
    });
  // Without the folder's path on this machine.
  const command = 'npm run benchmark:algorithms -- --home FOLDER';
  writeResult({ command, machine: machine(), results }, values.out);
}

if (values.create === undefined) report();
else if (values.create in sweeps) create(values.create as Stage);
else throw new Error(`--create is one of: ${Object.keys(sweeps).join(', ')}.`);
