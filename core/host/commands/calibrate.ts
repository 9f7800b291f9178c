import { writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { dataFolder } from '../../base/home.ts';
import { Failure } from '../../contract/failure.ts';
import { alarmChart } from '../../echo-trap/alarm-chart.ts';
import {
  type Calibration,
  fittedFile,
  readCalibration,
  writeCalibration,
} from '../../echo-trap/calibration.ts';
import { crossValidate, evaluateAll, fitPoints, ourAlarms, withStepSizes } from '../../echo-trap/fit.ts';
import {
  foldersIn,
  isRunFolder,
  type LabelledRun,
  type LabelledRuns,
  readLabelledRuns,
  skippedInWords,
} from '../../echo-trap/labelled-runs.ts';
import { ragen2Alarms, rlwatchAlarms } from '../../echo-trap/rivals.ts';
import { type Score, scoreOf } from '../../echo-trap/score.ts';
import { shippedThresholds } from '../../echo-trap/thresholds.ts';
import { defaultResources } from '../../index.ts';
import { runsFolder } from '../../run-directory/names.ts';
import { print, table } from '../output.ts';

interface CalibrateOptions {
  home?: string;
  json?: boolean;
  fit?: boolean;
  crossValidate?: boolean;
  chart?: string;
}

type Method = 'ours' | 'ragen2' | 'rlwatch';
type Scores = Record<Method, Score>;
interface Part extends Scores {
  by_environment: Record<string, Scores>;
  by_algorithm: Record<string, Scores>;
}

/** Labelled runs that come with the app. */
const ownRuns = join(defaultResources, '../benchmarks/echo-trap');

/** Labelled runs through our detectors and two others; with `fit`, what signs count for is first fitted to the tuning part and kept in the data folder. */
export function calibrate(folder: string = ownRuns, options: CalibrateOptions): void {
  const { home, json, fit, chart } = options;
  const parts = readParts(folder);
  tellOfLeftOut(parts);
  const fits = fit || options.crossValidate;
  const tuning = (parts.tuning ?? parts.all)?.runs ?? [];
  if (fits && tuning.length === 0)
    throw new Failure(
      'labelled_runs_missing',
      `${folder} has a folder \`held-out\`, and no folder \`tuning\` to fit to.`,
      'Put the runs to fit to into `tuning`; those in `held-out` only judge the result.',
    );
  if (fits) warnOfModels(tuning);
  if (fit) writeCalibration(dataFolder(home), fitted(tuning));
  const leftOut = options.crossValidate ? validated(tuning) : null;
  const calibration = readCalibration(dataFolder(home));
  const there = Object.entries(parts) as [PartName, LabelledRuns][];
  if (chart)
    writeChart(
      chart,
      there.flatMap(([, { runs }]) => runs),
      calibration,
    );
  const judged = there.map(([name, { runs }]) => [name, judge(runs, calibration)] as const);
  if (json) {
    const { all, ...named } = Object.fromEntries(judged);
    // Whoever reads `held_out` finds the runs of a folder without parts there, and where they were fitted to in both places.
    const shown = all ? { held_out: all, ...(fits && { tuning: all }) } : named;
    print(JSON.stringify({ ...shown, ...(leftOut && { left_out: leftOut }), ...unread(parts) }, null, 2));
    return;
  }
  for (const [name, part] of judged)
    print(`${titles[name === 'all' && fit ? 'tuning' : name]}\n${partTable(part)}\n`);
  if (leftOut)
    print(
      `${parts.all ? 'The' : 'The tuning'} runs again, each setting judged by points that were fitted to the others\n${table([head, row('all', 'ours', leftOut)])}\n`,
    );
  print(`Thresholds: ${calibration.about.source}. ${calibration.about.note}`);
  if (fit)
    print(
      `The thresholds are kept in ${fittedFile(dataFolder(home))}; monitors read them from now on. An app or \`starpo serve\` that is running keeps those that it began with until it is started again.\nWhat \`starpo runs\` and \`starpo alerts\` say of runs that were judged before stays until \`starpo history rebuild\` judges them anew, after such a start; it takes back no alert.`,
    );
}

/** `all`: of a folder without parts, which can be fitted to as those for tuning are. */
type PartName = 'held_out' | 'tuning' | 'all';
type Parts = Partial<Record<PartName, LabelledRuns>>;

const titles: Record<PartName, string> = {
  held_out: 'Held-out runs, which nothing was fitted to',
  tuning: 'Runs that signs were fitted to',
  all: 'Runs',
};

/** Of a folder with `tuning` and `held-out`, of one that holds runs, or of a data folder. */
function readParts(folder: string): Parts {
  const there = foldersIn(folder);
  const [heldOut, tuning] = [there.includes('held-out'), there.includes('tuning')];
  if (heldOut || tuning)
    return {
      ...(heldOut && { held_out: readLabelledRuns(join(folder, 'held-out')) }),
      ...(tuning && { tuning: readLabelledRuns(join(folder, 'tuning')) }),
    };
  const isDataFolder = there.includes('runs') && !there.some((name) => isRunFolder(join(folder, name)));
  return { all: readLabelledRuns(isDataFolder ? runsFolder(folder) : folder) };
}

function tellOfLeftOut(parts: Parts): void {
  for (const [name, part] of Object.entries(parts)) {
    const words = skippedInWords(part);
    if (words !== '')
      process.stderr.write(`warning: ${name === 'all' ? '' : `${folderOf[name]}: `}${words}\n`);
  }
}

const folderOf: Record<string, string> = { held_out: 'held-out', tuning: 'tuning' };

/** What {@link tellOfLeftOut} says, for programs; runs of parts with their folder. */
function unread(parts: Parts) {
  const called = (part: string, run: string) => (part === 'all' ? run : `${folderOf[part]}/${run}`);
  const all = Object.entries(parts);
  return {
    left_out_runs: all.flatMap(([part, { skipped }]) => skipped.map((run) => called(part, run))),
    passed_over_lines: Object.fromEntries(
      all.flatMap(([part, { unreadableLines }]) =>
        Object.entries(unreadableLines).map(([run, count]) => [called(part, run), count]),
      ),
    ),
  };
}

/** From the thresholds of the app, so that what was fitted before leaves no trace. */
function fitted(runs: readonly LabelledRun[]): Calibration {
  const thresholds = fitPoints(runs, withStepSizes(runs, shippedThresholds));
  const models = modelsOf(runs);
  return {
    thresholds,
    about: {
      source: 'fitted',
      models,
      runs: runs.length,
      note: 'Fitted to your own labelled runs; other models and environments may need others.',
    },
  };
}

/** With the environments that they were trained on. A fork's is named with the one model that the others are of; where these are of several, only if none of them is named with it. */
function modelsOf(runs: readonly LabelledRun[]): string[] {
  const known = new Set(runs.flatMap(({ config }) => modelOf(config) ?? []));
  const only = known.size === 1 ? [...known][0]! : null;
  const all = runs.map(({ config, environment }) => ({ model: modelOf(config) ?? only, environment }));
  const covered = new Set(all.flatMap(({ model, environment }) => (model === null ? [] : environment)));
  const named = all.filter(({ model, environment }) => model !== null || !covered.has(environment));
  return [
    ...new Set(named.map(({ model, environment }) => `${model ?? 'a model'} on ${environment}`)),
  ].sort();
}

/** Throws `labelled_runs_missing` where the runs of one setting are all that collapsed, or all that did not. */
function validated(runs: readonly LabelledRun[]): Score {
  const isWatched = process.stderr.isTTY;
  const score = crossValidate(
    runs,
    shippedThresholds,
    (share) => isWatched && process.stderr.write(`\rleaving out settings: ${Math.round(100 * share)} %`),
  );
  if (isWatched) process.stderr.write('\n');
  if (score) return score;
  throw new Failure(
    'labelled_runs_missing',
    'Without the runs of one setting, no run is left that collapsed, or none that did not.',
    'Add runs, to `tuning` where there is one, of at least two settings that collapse and of two that do not.',
  );
}

/** Which steps are long is a model's own, and a fit takes all runs for those of one. */
function warnOfModels(runs: readonly LabelledRun[]): void {
  const models = [...new Set(runs.flatMap(({ config }) => modelOf(config) ?? []))].sort();
  if (models.length > 1)
    process.stderr.write(
      `warning: the runs to fit to are of ${models.length} models (${models.join(', ')}), and are taken for those of one: which steps are long differs from model to model. Fit to the runs of one model at a time.\n`,
    );
}

/** The name of the model's folder; null for a fork, which begins from a checkpoint and doesn't say of what model, and where it isn't known. */
function modelOf(config: unknown): string | null {
  const { model, run } = (config as { start?: { model?: unknown; run?: unknown } } | null)?.start ?? {};
  return typeof model === 'string' && model !== '' && !run ? basename(model) : null;
}

const judgeBy = (runs: readonly LabelledRun[], { thresholds }: Calibration) => ({
  ours: evaluateAll(runs, (run) => ourAlarms(run, thresholds)),
  ragen2: evaluateAll(runs, ({ points }) => ragen2Alarms(points)),
  rlwatch: evaluateAll(runs, ({ points }) => rlwatchAlarms(points)),
});

function writeChart(file: string, runs: readonly LabelledRun[], calibration: Calibration): void {
  const { ours, ragen2, rlwatch } = judgeBy(runs, calibration);
  const rows = runs.map((run, i) => ({
    run,
    last: ours[i]!.last,
    alarms: {
      [names.ours]: ours[i]!.alarms,
      [names.ragen2]: ragen2[i]!.alarms,
      [names.rlwatch]: rlwatch[i]!.alarms,
    },
  }));
  try {
    writeFileSync(resolve(file), alarmChart(rows, `Alarms in ${runs.length} labelled runs`));
  } catch (error) {
    throw new Failure(
      'file_not_written',
      `The chart can't be written: ${error instanceof Error ? error.message : error}.`,
      'Name a file in a folder that is there and may be written to.',
    );
  }
}

function judge(runs: readonly LabelledRun[], calibration: Calibration): Part {
  const all = judgeBy(runs, calibration);
  const scores = (among: (run: LabelledRun) => boolean): Scores => {
    const of = (method: Method) => scoreOf(all[method].filter((_, i) => among(runs[i]!)));
    return { ours: of('ours'), ragen2: of('ragen2'), rlwatch: of('rlwatch') };
  };
  const by = (key: 'environment' | 'algorithm') =>
    Object.fromEntries(
      [...new Set(runs.map((run) => run[key]))]
        .sort()
        .map((value) => [value, scores((run) => run[key] === value)]),
    );
  return { ...scores(() => true), by_environment: by('environment'), by_algorithm: by('algorithm') };
}

const names: Record<Method, string> = { ours: 'StarPO Studio', ragen2: 'RAGEN-2', rlwatch: 'rlwatch' };
const percent = (value: number | null) => (value === null ? '-' : `${Math.round(100 * value)} %`);
const interval = (value: number | null, low: number | null, high: number | null) =>
  value === null ? '-' : `${percent(value)} (${percent(low)} to ${percent(high)})`;
const digits = (value: number | null) => (value === null ? '-' : String(Number(value.toFixed(2))));

function row(what: string, method: Method, score: Score): string[] {
  const { recall, recall_low, recall_high, precision, precision_low, precision_high } = score;
  return [
    what,
    names[method],
    `${score.runs} (${score.collapsed})`,
    interval(recall, recall_low, recall_high),
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

const alarmed = ({ alarmed: by }: Score, kind: string) =>
  by[kind] ? `${by[kind].alarmed} of ${by[kind].runs}` : '-';

const head = [
  'runs of',
  'method',
  'runs (collapsed)',
  'recall',
  'precision',
  'false / 1,000',
  'median lead',
  'worst',
  'solved',
  'locked',
];

function partTable(part: Part): string {
  const rows = (what: string, scores: Scores) =>
    (Object.keys(names) as Method[]).map((method, i) => row(i === 0 ? what : '', method, scores[method]));
  return table([
    head,
    ...rows('all', part),
    ...Object.entries(part.by_environment).flatMap(([name, scores]) => rows(name, scores)),
    ...Object.entries(part.by_algorithm).flatMap(([name, scores]) => rows(name, scores)),
  ]);
}
