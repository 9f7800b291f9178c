/**
 * Measures the true risk: from each checkpoint of a run, continuations with other seeds and levels; the share that collapses within them is the risk there.
 * Compares the monitor's score with it. Takes hours; can be stopped and continued. The folder --into also has the runs with their checkpoints.
 * Running held-out settings counts as an opening of the held-out part (README.md): record it before reading the results.
 * Usage: npm run benchmark:true-risk -- --into FOLDER [--part tuning] [--only PATTERN] [--seeds 1] [--every 20] [--continuations 6] [--length 40] [--set key=value ...] [--workers 1] [--out FILE]
 */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { labelRun, type Point } from '../../core/echo-trap/collapse-rule.ts';
import { Monitor } from '../../core/echo-trap/monitor.ts';
import type { RunConfig } from '../../core/run-config/run-config.ts';
import { upgradeConfig } from '../../core/run-config/upgrade.ts';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { commandOutput, finishedJob, type Job, runJobs } from './resumable.ts';
import { type RiskPoint, summarizeRisk } from './risk-statistics.ts';
import list from './run-list.json' with { type: 'json' };
import { pointsOf, root } from './trained-run.ts';

const { values } = parseArgs({
  options: {
    into: { type: 'string' },
    part: { type: 'string', default: 'tuning' },
    only: { type: 'string', default: '' },
    /** Seeds per family. */
    seeds: { type: 'string', default: '1' },
    /** Iterations between checkpoints. */
    every: { type: 'string', default: '20' },
    continuations: { type: 'string', default: '6' },
    /** Iterations of a continuation. */
    length: { type: 'string', default: '40' },
    set: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
if (!values.into) throw new Error('Give a folder for the runs with --into.');
setPriority(19);
const into = resolve(values.into);
const workers = Number(values.workers);
const [every, length] = [Number(values.every), Number(values.length)];
const changes = Object.fromEntries(values.set.map((each) => each.split(/=(.*)/s).slice(0, 2)));
const common = { ...list.common, 'checkpoint.every': every, 'checkpoint.keep': 1000, 'evaluation.every': 0 };
const levelsOf = (seed: number) => ({ 'levels.train_seed': 50_000_000 + 100_000 * seed, seed });

interface Setting {
  family: string;
  seed: number;
  preset: string;
  set: Record<string, unknown>;
}
const settings: Setting[] = list.families
  .filter(({ name, part }) => part === values.part && new RegExp(values.only).test(name))
  .flatMap(({ name, preset, iterations, seeds, set }) =>
    seeds.slice(0, Number(values.seeds)).map((seed) => ({
      ...{ family: name, seed, preset },
      set: { ...common, iterations, ...levelsOf(seed), ...set, ...changes },
    })),
  );

const baseName = ({ family, seed }: Setting) => `${family}-seed-${seed}`;
const homeOf = (setting: Setting) => join(into, 'homes', baseName(setting));

/** Trains in the data folder of a setting, and returns the run's folder. */
async function train(setting: Setting, source: readonly string[], set: Record<string, unknown>): Promise<string> {
  const assigned = Object.entries(set).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const args = ['core/host/cli.ts', 'train', ...source, ...assigned, '--json', '--home', homeOf(setting)];
  const output = await commandOutput(process.execPath, args, root);
  const created = output.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)));
  return created.find(({ type }) => type === 'created').folder;
}

/** The run whose checkpoints are continued. */
interface Base {
  folder: string;
  points: Point[];
}

const bases = settings.map(
  (setting): Job<Base> => ({
    name: baseName(setting),
    async run() {
      // Removes an interrupted attempt.
      rmSync(homeOf(setting), { recursive: true, force: true });
      const folder = await train(setting, [setting.preset], setting.set);
      return { folder, points: pointsOf(folder) };
    },
  }),
);

/** A checkpoint of a run that had not collapsed. */
interface Start {
  setting: Setting;
  base: Base;
  checkpoint: number;
}

const configOf = ({ folder }: Base) =>
  upgradeConfig(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))).config as RunConfig;

function collapsed(base: Base, points: readonly Point[]): boolean {
  const { groups, group_size } = configOf(base).rollout;
  const label = labelRun(points, groups, group_size);
  return label !== null && label.collapsed !== null;
}

const upTo = ({ points }: Base, iteration: number) => points.filter((point) => point.iteration <= iteration);

function starts(): Start[] {
  return settings.flatMap((setting) => {
    const base = finishedJob<Base>(into, baseName(setting));
    if (!base) return [];
    const last = base.points.at(-1)!.iteration;
    const checkpoints = Array.from({ length: Math.floor(last / every) }, (_, i) => (i + 1) * every);
    return checkpoints
      .filter((checkpoint) => !collapsed(base, upTo(base, checkpoint)))
      .map((checkpoint) => ({ setting, base, checkpoint }));
  });
}

interface Continuation {
  collapsed: boolean;
}

const continuationName = ({ setting, checkpoint }: Start, index: number) =>
  `${baseName(setting)}-from-${checkpoint}-${index + 1}`;

function continuationsOf(start: Start): Job<Continuation>[] {
  const { setting, base, checkpoint } = start;
  return Array.from({ length: Number(values.continuations) }, (_, index) => ({
    name: continuationName(start, index),
    async run() {
      const source = ['--from', `${basename(base.folder)}@${checkpoint}`, '--keep-optimizer'];
      const seed = 1000 * (index + 1) + setting.seed;
      const set = { ...levelsOf(seed), iterations: checkpoint + length, 'checkpoint.every': 0 };
      const folder = await train(setting, source, set);
      const points = [...upTo(base, checkpoint), ...pointsOf(folder).filter(({ iteration }) => iteration > checkpoint)];
      rmSync(folder, { recursive: true, force: true });
      return { collapsed: collapsed(base, points) };
    },
  }));
}

/** Returns the point of a checkpoint with all its continuations; null while some are missing. */
function riskPoint(start: Start): RiskPoint | null {
  const { setting, base, checkpoint } = start;
  const results = continuationsOf(start).map(({ name }) => finishedJob<Continuation>(into, name));
  if (results.some((result) => result === undefined)) return null;
  const monitor = new Monitor(configOf(base));
  monitor.addAll(upTo(base, checkpoint));
  const view = monitor.view();
  return {
    ...{ family: setting.family, seed: setting.seed, iteration: checkpoint },
    score: view?.risk ?? null,
    strengths: (view?.signals ?? []).map(({ value, baseline, threshold, on }) => {
      const strength = (value! - baseline!) / (threshold! - baseline!);
      return value === null || baseline === null || !Number.isFinite(strength)
        ? Number(on)
        : Math.min(2, Math.max(0, strength));
    }),
    continuations: results.length,
    collapsed: results.filter((result) => result!.collapsed).length,
  };
}

function write(): void {
  const points = starts().flatMap((start) => riskPoint(start) ?? []);
  const summary = summarizeRisk(points);
  const command = `npm run benchmark:true-risk${commandArguments()}`;
  if (values.out) writeResult({ command, machine: machine(), summary, points }, values.out);
  else console.log(JSON.stringify(summary));
}

/** Orders checkpoints by a digest of their names, so that partial results cover all families and iterations. */
const mixed = (all: readonly Start[]) => {
  const digest = (start: Start) => createHash('sha256').update(continuationName(start, 0)).digest('hex');
  return all.toSorted((a, b) => digest(a).localeCompare(digest(b)));
};

const isTrained = await runJobs(bases, { folder: into, workers, onResult: () => {} });
if (isTrained) await runJobs(mixed(starts()).flatMap(continuationsOf), { folder: into, workers, onResult: write });
write();
