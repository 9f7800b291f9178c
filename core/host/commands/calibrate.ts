import { writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { dataFolder, defaultResources } from '../../base/home.ts';
import { Failure } from '../../contract/failure.ts';
import { alarmChart } from '../../echo-trap/alarm-chart.ts';
import { type Calibration, fittedFile, readCalibration, writeCalibration } from '../../echo-trap/calibration.ts';
import { crossValidate, evaluateAll, fitWeights, ourAlarms, withStepSizes } from '../../echo-trap/fit.ts';
import {
  foldersIn,
  isRunFolder,
  type LabeledRun,
  type LabeledRuns,
  readLabeledRuns,
  skippedInWords,
} from '../../echo-trap/labeled-runs.ts';
import { flightRecorderAlarms, ragen2Alarms, rlwatchAlarms } from '../../echo-trap/rivals.ts';
import { type Score, scoreOf } from '../../echo-trap/score.ts';
import { shippedThresholds } from '../../echo-trap/thresholds.ts';
import { runsFolder } from '../../run-directory/names.ts';
import { advise, print, table, warn } from '../output.ts';
import { writeReason } from '../write-reason.ts';

interface CalibrateOptions {
  home?: string;
  json?: boolean;
  fit?: boolean;
  crossValidate?: boolean;
  chart?: string;
}

type Method = 'ours' | 'ragen2' | 'rlwatch' | 'flight_recorder';
type Scores = Record<Method, Score>;
interface Part extends Scores {
  by_environment: Record<string, Scores>;
  by_algorithm: Record<string, Scores>;
}

/** Labeled runs bundled with the app. */
const bundledRuns = join(defaultResources, '../benchmarks/echo-trap');

/** Scores the monitor and three other methods on labeled runs. With `fit`, fits the thresholds to the tuning runs first and saves them. */
export function calibrate(folder: string = bundledRuns, options: CalibrateOptions): void {
  const { home, json, fit, chart } = options;
  const parts = readParts(folder);
  warnOfSkipped(parts);
  const fits = fit || options.crossValidate;
  const tuning = (parts.tuning ?? parts.all)?.runs ?? [];
  if (fits && tuning.length === 0)
    throw new Failure(
      'labeled_runs_missing',
      `${folder} has a folder \`held-out\` but no folder \`tuning\`.`,
      'Put the runs for fitting in `tuning`; runs in `held-out` only score the result.',
    );
  if (fits) warnOfModels(tuning);
  const calibration = fit ? fitted(tuning) : readCalibration(dataFolder(home));
  const leftOut = options.crossValidate ? validated(tuning) : null;
  const there = Object.entries(parts) as [PartName, LabeledRuns][];
  if (chart)
    writeChart(
      chart,
      there.flatMap(([, { runs }]) => runs),
      calibration,
    );
  if (fit) writeCalibration(dataFolder(home), calibration);
  const scored = there.map(([name, { runs }]) => [name, scorePart(runs, calibration)] as const);
  if (json) {
    const { all, ...named } = Object.fromEntries(scored);
    // A folder without parts counts as held-out, and also as tuning if the thresholds were fitted to it.
    const shown = all ? { held_out: all, ...(fits && { tuning: all }) } : named;
    print(JSON.stringify({ ...shown, ...(leftOut && { left_out: leftOut }), ...unread(parts) }, null, 2));
    return;
  }
  for (const [name, part] of scored) {
    const title = fit && name !== 'held_out' ? `${titles.tuning} (used for fitting)` : titles[name];
    print(`${title}\n${partTable(part)}\n`);
  }
  if (leftOut)
    print(
      `Cross-validation on ${parts.all ? 'the' : 'the tuning'} runs: each setting scored with thresholds fitted to the other settings\n${table([head, row('all', 'ours', leftOut)])}\n`,
    );
  advise(`Thresholds: ${calibration.about.source}. ${calibration.about.note}`);
  if (fit)
    advise(
      `Saved the thresholds to ${fittedFile(dataFolder(home))}. Restart open apps and \`starpo serve\` to use them.\nRun \`starpo history rebuild\` after the restart to apply them to existing runs. Existing alerts stay.`,
    );
}

/** `all` is a folder without parts; thresholds can be fitted to it too. */
type PartName = 'held_out' | 'tuning' | 'all';
type Parts = Partial<Record<PartName, LabeledRuns>>;

const titles: Record<PartName, string> = {
  held_out: 'Held-out runs',
  tuning: 'Tuning runs',
  all: 'Runs',
};

/** Reads a folder with `tuning` and `held-out`, a folder of runs, or a data folder. */
function readParts(folder: string): Parts {
  const there = foldersIn(folder);
  const [heldOut, tuning] = [there.includes('held-out'), there.includes('tuning')];
  if (heldOut || tuning)
    return {
      ...(heldOut && { held_out: readLabeledRuns(join(folder, 'held-out')) }),
      ...(tuning && { tuning: readLabeledRuns(join(folder, 'tuning')) }),
    };
  const isDataFolder = there.includes('runs') && !there.some((name) => isRunFolder(join(folder, name)));
  return { all: readLabeledRuns(isDataFolder ? runsFolder(folder) : folder) };
}

function warnOfSkipped(parts: Parts): void {
  for (const [name, part] of Object.entries(parts)) {
    const words = skippedInWords(part);
    if (words !== '') warn(`${name === 'all' ? '' : `${folderOf[name]}: `}${words}`);
  }
}

const folderOf: Record<string, string> = { held_out: 'held-out', tuning: 'tuning' };

/** Returns the warnings of {@link warnOfSkipped} as JSON; runs of parts are prefixed with their folder. */
function unread(parts: Parts) {
  const runName = (part: string, run: string) => (part === 'all' ? run : `${folderOf[part]}/${run}`);
  const all = Object.entries(parts);
  return {
    skipped_runs: all.flatMap(([part, { skipped }]) => skipped.map((run) => runName(part, run))),
    skipped_lines: Object.fromEntries(
      all.flatMap(([part, { unreadableLines }]) =>
        Object.entries(unreadableLines).map(([run, count]) => [runName(part, run), count]),
      ),
    ),
  };
}

/** Fits from the shipped thresholds, so that an earlier fit has no influence. */
function fitted(runs: readonly LabeledRun[]): Calibration {
  const thresholds = fitWeights(runs, withStepSizes(runs, shippedThresholds));
  const models = modelsOf(runs);
  return {
    thresholds,
    about: {
      source: 'fitted',
      models,
      runs: runs.length,
      note: 'Fitted to labeled runs. Other models and environments may need other thresholds.',
    },
  };
}

/** Lists each model with its environments. A fork doesn't record its model: it counts as the only known model, or as unknown if no known model covers its environment. */
function modelsOf(runs: readonly LabeledRun[]): string[] {
  const known = new Set(runs.flatMap(({ config }) => modelOf(config) ?? []));
  const only = known.size === 1 ? [...known][0]! : null;
  const all = runs.map(({ config, environment }) => ({ model: modelOf(config) ?? only, environment }));
  const covered = new Set(all.flatMap(({ model, environment }) => (model === null ? [] : environment)));
  const named = all.filter(({ model, environment }) => model !== null || !covered.has(environment));
  return [...new Set(named.map(({ model, environment }) => `${model ?? 'a model'} on ${environment}`))].sort();
}

/** Throws `labeled_runs_missing` if one setting has all collapsed runs, or all others. */
function validated(runs: readonly LabeledRun[]): Score {
  const isWatched = process.stderr.isTTY;
  const score = crossValidate(
    runs,
    shippedThresholds,
    (share) => isWatched && process.stderr.write(`\rcross-validation: ${Math.round(100 * share)} %`),
  );
  if (isWatched) process.stderr.write('\n');
  if (score) return score;
  throw new Failure(
    'labeled_runs_missing',
    'Cross-validation needs collapsed and healthy runs in at least two settings each.',
    'Add runs (to `tuning` if it exists) until two settings have collapsed runs and two have healthy runs.',
  );
}

/** Warns of several models: step sizes differ between models, but a fit treats all runs as one model. */
function warnOfModels(runs: readonly LabeledRun[]): void {
  const models = [...new Set(runs.flatMap(({ config }) => modelOf(config) ?? []))].sort();
  if (models.length > 1)
    warn(
      `the runs come from ${models.length} models (${models.join(', ')}), but step sizes differ between models. Fit to the runs of one model at a time.`,
    );
}

/** Returns the name of the model's folder; null for forks, which don't record it, and if unknown. */
function modelOf(config: unknown): string | null {
  const { model, run } = (config as { start?: { model?: unknown; run?: unknown } } | null)?.start ?? {};
  return typeof model === 'string' && model !== '' && !run ? basename(model) : null;
}

const evaluateMethods = (runs: readonly LabeledRun[], { thresholds }: Calibration) => ({
  ours: evaluateAll(runs, (run) => ourAlarms(run, thresholds)),
  ragen2: evaluateAll(runs, ({ points }) => ragen2Alarms(points)),
  rlwatch: evaluateAll(runs, ({ points }) => rlwatchAlarms(points)),
  flight_recorder: evaluateAll(runs, ({ points }) => flightRecorderAlarms(points)),
});

function writeChart(file: string, runs: readonly LabeledRun[], calibration: Calibration): void {
  const all = evaluateMethods(runs, calibration);
  const rows = runs.map((run, i) => ({
    run,
    last: all.ours[i]!.last,
    alarms: Object.fromEntries(methods.map((method) => [names[method], all[method][i]!.alarms])),
  }));
  try {
    writeFileSync(resolve(file), alarmChart(rows, `Alarms in ${runs.length} labeled runs`));
  } catch (error) {
    throw new Failure(
      'file_not_written',
      `${file} can't be written: ${writeReason(file, error)}.`,
      'Choose a file in an existing, writable folder.',
    );
  }
}

function scorePart(runs: readonly LabeledRun[], calibration: Calibration): Part {
  const all = evaluateMethods(runs, calibration);
  const scores = (among: (run: LabeledRun) => boolean): Scores => {
    const of = (method: Method) => scoreOf(all[method].filter((_, i) => among(runs[i]!)));
    return Object.fromEntries(methods.map((method) => [method, of(method)])) as Scores;
  };
  const by = (key: 'environment' | 'algorithm') =>
    Object.fromEntries(
      [...new Set(runs.map((run) => run[key]))].sort().map((value) => [value, scores((run) => run[key] === value)]),
    );
  return { ...scores(() => true), by_environment: by('environment'), by_algorithm: by('algorithm') };
}

const names: Record<Method, string> = {
  ours: 'StarPO Studio',
  ragen2: 'RAGEN-2',
  rlwatch: 'rlwatch',
  flight_recorder: 'Flight Recorder',
};
const methods = Object.keys(names) as Method[];
const percent = (value: number | null) => (value === null ? '-' : `${Math.round(100 * value)} %`);
const interval = (value: number | null, low: number | null, high: number | null) =>
  value === null ? '-' : `${percent(value)} (${percent(low)} to ${percent(high)})`;
const digits = (value: number | null) => (value === null ? '-' : String(Number(value.toFixed(2))));

function row(label: string, method: Method, score: Score): string[] {
  const { recall, recall_low, recall_high, precision, precision_low, precision_high } = score;
  return [
    label,
    names[method],
    `${score.runs} (${score.collapsed})`,
    interval(recall, recall_low, recall_high),
    percent(score.prompt_recall),
    interval(precision, precision_low, precision_high),
    score.false_alarms_per_1000 === null
      ? '-'
      : `${digits(score.false_alarms_per_1000)} (to ${digits(score.false_alarms_per_1000_high)})`,
    digits(score.median_lead),
    digits(score.worst_lead),
    alarmed(score, 'solved'),
    alarmed(score, 'locked'),
  ];
}

const alarmed = ({ alarmed: by }: Score, kind: string) => (by[kind] ? `${by[kind].alarmed} of ${by[kind].runs}` : '-');

const head = [
  'runs from',
  'method',
  'runs (collapsed)',
  'recall',
  'prompt',
  'precision',
  'false / 1,000',
  'median lead',
  'worst',
  'solved',
  'locked',
];

function partTable(part: Part): string {
  const rows = (label: string, scores: Scores) =>
    methods.map((method, i) => row(i === 0 ? label : '', method, scores[method]));
  return table([
    head,
    ...rows('all', part),
    ...Object.entries(part.by_environment).flatMap(([name, scores]) => rows(name, scores)),
    ...Object.entries(part.by_algorithm).flatMap(([name, scores]) => rows(name, scores)),
  ]);
}
