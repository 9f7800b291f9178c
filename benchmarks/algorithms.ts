/**
 * Compares algorithms for the starter after equal compute, and a reasoning-aware reward with none. `costs` measures the seconds per iteration, from which
 * the numbers of iterations follow; `screening` trains all algorithms on FrozenLake; `comparison` trains the three best and StarPO-S on every task with
 * other seeds, on levels that nothing else uses; `grounding` adds the reward to the best. Creates a stage's missing sweeps in a data folder with --create;
 * `starpo sweep start SWEEP` trains them. Without it, reports the completed runs.
 * Usage: npm run benchmark:algorithms -- --home FOLDER [--create costs|screening|comparison|grounding] [--device cuda] [--out FILE]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Output, Settings, StudyCell, StudyRow } from '../core/contract/contract.ts';
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

const tasks = ['frozen-lake', 'sokoban', 'frozen-lake-slippery'] as const;
type Task = (typeof tasks)[number];

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
/** The algorithm with the highest success over the tasks in the comparison. */
const best: Algorithm = 'grpo-s';

/** Returns the iterations that cost as much as `base` iterations of StarPO-S. */
function iterationsOf(algorithm: Algorithm, task: Task, base: number): number {
  const column = task === 'sokoban' ? 1 : 0;
  return Math.round((base * costs['starpo-s'][column]!) / costs[algorithm][column]!);
}

/** Without StarPO-S v2's early stops: all runs get the same compute. */
const withoutStops = { 'early_stop.reward_std': 0, 'early_stop.failed_evaluations': 0, 'early_stop.empty_filters': 0 };
const common = { threads: 1, 'checkpoint.every': 0, 'evaluation.every': 0, ...withoutStops };
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
  return { task, name: `${titles[stage]}: ${task}`, base: { preset: base }, points };
}

const titles = { costs: 'Costs', screening: 'Screening', comparison: 'Algorithms', grounding: 'Grounding' };

/** Returns the sweep of the comparison's best algorithm with a reasoning-aware reward. Its runs differ from the comparison's only in the weight. */
function groundingSweep(task: Task, weight: number) {
  const iterations = iterationsOf(best, task, stages.grounding.iterations);
  const points = [{ name: `weight ${weight}`, set: { 'reward.grounding_weight': weight, iterations } }];
  return { task, name: `${titles.grounding} ${weight}: ${task}`, base: { preset: `starter-${task}-${best}` }, points };
}

const sweeps = {
  costs: (['frozen-lake', 'sokoban'] as const).map((task) => algorithmSweep('costs', task)),
  screening: [algorithmSweep('screening', 'frozen-lake')],
  comparison: tasks.map((task) => algorithmSweep('comparison', task)),
  grounding: (['frozen-lake', 'sokoban'] as const).flatMap((task) =>
    [0.5, 0.1].map((weight) => groundingSweep(task, weight)),
  ),
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
  const listed: Output<'studies.list'> = JSON.parse(starpo('sweep', 'list', '--json'));
  const created = new Set(listed.map(({ name }) => name));
  const folder = mkdtempSync(join(tmpdir(), 'starpo-sweeps-'));
  try {
    for (const { task: _, ...sweep } of sweeps[stage].filter(({ name }) => !created.has(name))) {
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

/** Returns a metric's values in the iterations after `from` that measured it. */
const valuesOf = (runId: string, metric: string, from = 0) =>
  eventsOf(runId).flatMap(({ type, iteration, metrics }): number[] =>
    type === 'iteration' && iteration > from && metric in metrics ? [metrics[metric]] : [],
  );

/** Returns the version and commit of the trainer that started a run. */
const trainerOf = (runId: string): string => eventsOf(runId).find(({ type }) => type === 'started').build;

/** The outcome of a completed run: success on the evaluation's levels after training, and variety over the last ten iterations. */
type Outcome = Record<'success' | 'distinct_first_thoughts' | 'mutual_information', number>;

function outcomeOf({ runId, after, iterations }: StudyCell): Outcome {
  const last = (metric: string) => mean(valuesOf(runId, metric, iterations - 10));
  return {
    success: after!,
    distinct_first_thoughts: last('rollout/distinct_first_thoughts'),
    mutual_information: last('diagnostics/mutual_information'),
  };
}

/** The outcomes of a sweep's completed runs, by setting and seed. */
type Outcomes = Record<string, Record<number, Outcome>>;

function outcomesOf(table: readonly StudyRow[]): Outcomes {
  const completed = ({ cells }: StudyRow) => cells.filter(({ status }) => status === 'completed');
  return Object.fromEntries(
    table.map((row) => [row.name, Object.fromEntries(completed(row).map((cell) => [cell.seed, outcomeOf(cell)]))]),
  );
}

/** Reports each sweep's settings, then what the comparison and the grounding say over all. */
function report(): void {
  const listed: Output<'studies.list'> = JSON.parse(starpo('sweep', 'list', '--json'));
  const found = Object.entries(sweeps)
    .flatMap(([stage, each]) => each.map((sweep) => ({ stage: stage as Stage, ...sweep })))
    .flatMap((sweep) => {
      const same = listed.find(({ name }) => name === sweep.name);
      if (!same || same.runs.completed === 0) return [];
      const { table }: Output<'studies.get'> = JSON.parse(starpo('sweep', 'show', same.id, '--json'));
      return [{ ...sweep, table, outcomes: outcomesOf(table) }];
    });
  const results = found.map(({ stage, name, points, table, outcomes }) => ({
    sweep: name,
    rows: table.map((row, index) => reportSetting(stage, row, points[index]!.set.iterations, outcomes[row.name]!)),
  }));
  const of = (stage: Stage, task: Task): Outcomes =>
    found.find((each) => each.stage === stage && each.task === task)?.outcomes ?? {};
  const compared = tasks.map((task) => of('comparison', task));
  const grounded = found
    .filter(({ stage }) => stage === 'grounding')
    .map(({ name, task, points, outcomes }) => ({
      sweep: name,
      ...pairedDifferences(outcomes[points[0]!.name]!, of('comparison', task)[best]),
    }));
  // FOLDER replaces the local path.
  const command = 'npm run benchmark:algorithms -- --home FOLDER';
  writeResult({ command, machine: machine(), results, over_tasks: overTasks(compared), grounded }, values.out);
}

function reportSetting(stage: Stage, row: StudyRow, iterations: number, outcomes: Record<number, Outcome>) {
  const completed = row.cells.filter(({ status }) => status === 'completed').map(({ runId }) => runId);
  const all = Object.values(outcomes);
  return {
    ...{ setting: row.name, iterations, after: row.after, collapse: row.collapse },
    trainers: [...new Set(completed.map(trainerOf))],
    distinct_first_thoughts: estimateMean(all.map((outcome) => outcome.distinct_first_thoughts)),
    mutual_information: estimateMean(all.map((outcome) => outcome.mutual_information)),
    // Other stages train several runs at once.
    ...(stage === 'costs' && {
      seconds_per_iteration: estimateMean(completed.map((runId) => median(valuesOf(runId, 'time/iteration')))),
    }),
  };
}

/** Returns each algorithm's success, averaged over the tasks, and its gain over StarPO-S with the same seed. Uses only the seeds for which every algorithm has a result on every task. */
function overTasks(compared: readonly Outcomes[]) {
  const seeds = comparison.seeds.filter((seed) =>
    compared.every((outcomes) => finalists.every((algorithm) => outcomes[algorithm]?.[seed])),
  );
  const success = (algorithm: Algorithm, seed: number) =>
    mean(compared.map((outcomes) => outcomes[algorithm]![seed]!.success));
  return finalists.map((setting) => ({
    setting,
    success: estimateMean(seeds.map((seed) => success(setting, seed))),
    ...(setting !== 'starpo-s' && {
      gain: estimateMean(seeds.map((seed) => success(setting, seed) - success('starpo-s', seed))),
    }),
  }));
}

/** Returns the mean differences of outcomes from those with the same seed, over the seeds that both have. */
function pairedDifferences(outcomes: Record<number, Outcome>, from: Record<number, Outcome> = {}) {
  const pairs = Object.keys(outcomes)
    .map(Number)
    .flatMap((seed) => (from[seed] ? [[outcomes[seed]!, from[seed]] as const] : []));
  const difference = (key: keyof Outcome) => estimateMean(pairs.map(([outcome, base]) => outcome[key] - base[key]));
  return {
    success: difference('success'),
    distinct_first_thoughts: difference('distinct_first_thoughts'),
    mutual_information: difference('mutual_information'),
  };
}

if (values.create === undefined) report();
else if (values.create in sweeps) create(values.create as Stage);
else throw new Error(`--create is one of: ${Object.keys(sweeps).join(', ')}.`);
