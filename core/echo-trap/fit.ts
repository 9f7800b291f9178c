import type { TrapState } from '../contract/echo-trap.ts';
import { Failure } from '../contract/failure.ts';
import { count } from '../contract/numbers.ts';
import { isAlarm } from '../contract/trap-words.ts';
import { shippedCalibration } from './calibration.ts';
import { factsOf } from './facts.ts';
import type { LabeledRun } from './labeled-runs.ts';
import { advance, newStanding, targetOf, warningRisk } from './machine.ts';
import { Monitor } from './monitor.ts';
import { followOutcome, newOutcomeMemory } from './outcome.ts';
import { type Example, type Fit, fitRidge } from './ridge.ts';
import { hasRisk, strengthsOf, weighted } from './risk.ts';
import { type EvaluatedRun, earliestOnset, type Score, scoreOf } from './score.ts';
import { detectors, newLatches, readSignals } from './signals.ts';
import type { Thresholds } from './thresholds.ts';
import { median, Track } from './track.ts';

/** Fits the monitor to labeled runs: the weights of the signals, and the step sizes of their model. */

/** Returns the iterations at which the monitor raises an alarm (`warning` or worse). */
export function ourAlarms(run: LabeledRun, thresholds: Thresholds): number[] {
  const monitor = new Monitor(run.config, { ...shippedCalibration, thresholds });
  monitor.addAll(run.points);
  return monitor.alarms;
}

export const evaluateAll = (runs: readonly LabeledRun[], alarmsOf: (run: LabeledRun) => number[]): EvaluatedRun[] =>
  runs.map((run) => evaluateRun(run, alarmsOf(run)));

const evaluateRun = (run: LabeledRun, alarms: number[]): EvaluatedRun => ({
  run,
  first: firstOf(run),
  last: run.points.at(-1)?.iteration ?? 0,
  alarms,
});

const firstOf = ({ points }: LabeledRun) =>
  points.find(({ metrics }) => 'rollout/success_rate' in metrics)?.iteration ?? 1;

/** Returns the objective of the fit: recall counts most, then false alarms, then lead time. */
export function objective(score: Score): number {
  const share = (kind: string) => {
    const { alarmed = 0, runs = 0 } = score.alarmed[kind] ?? {};
    return runs > 0 ? alarmed / runs : 0;
  };
  const falseRate = score.false_alarms_per_1000 ?? 0;
  return (
    (score.recall ?? 1) -
    0.08 * falseRate -
    share('solved') -
    0.15 * share('locked') +
    0.1 * Math.min(1, (score.median_lead ?? 0) / 40)
  );
}

/**
 * Returns thresholds with the model's own step sizes: `steady_steps` is the smallest of the runs that did not collapse, `long_steps` the median of those
 * that did. Unchanged if long is not above steady or the step sizes are unknown. Assumes that all runs train the same model.
 */
export function withStepSizes(runs: readonly LabeledRun[], start: Thresholds): Thresholds {
  const stepsWhere = (collapsed: boolean) =>
    runs.filter((run) => isUsable(run) && (run.collapsed !== null) === collapsed).flatMap(stepsIn);
  const steady = Math.min(...stepsWhere(false));
  const long = median(stepsWhere(true));
  return long > steady
    ? { ...start, detectors: { ...start.detectors, steady_steps: steady, long_steps: long } }
    : start;
}

function stepsIn({ config }: LabeledRun): number[] {
  const { epochs, learningRate } = factsOf(config);
  return learningRate ? [epochs * learningRate] : [];
}

/** Distance to the onset of collapse, in iterations. Up to `near`: positive example. Beyond `far`: negative. In between: not used. */
const near = 50;
const far = 60;
/** Number of a run's first iterations that are not used as examples, because its baselines still change most. */
const settled = 8;
/** Ridge penalty on the weights. The weights of all examples sum to 1. */
const penalty = 0.03;
/** Number of scores tried as the warning threshold. */
const levels = 80;

/** The part of an iteration that does not depend on the weights. */
interface Step {
  iteration: number;
  /** Strengths of the signals with a weight; null if the weights do not apply. */
  strengths: number[] | null;
  /** Target states for a risk of 0 and of 1. Values in between only change `watch`, which is not an alarm. */
  below: TrapState;
  above: TrapState;
  /** The target for a risk of 1 during an alarm, which lasts without other signals. */
  kept: TrapState;
}

/** A run with its signals read once, so that many weights can be tried. */
interface ReadRun {
  run: LabeledRun;
  steps: Step[];
  examples: Example[];
}

function readRun(run: LabeledRun, thresholds: Thresholds): ReadRun {
  const facts = factsOf(run.config);
  const track = new Track();
  for (const point of run.points) track.put(point);
  const latches = newLatches();
  const memory = newOutcomeMemory();
  const steps: Step[] = [];
  for (let index = 0; index < track.length; index += 1) {
    if (!track.isPlayed(index)) continue;
    const iteration = track.iterations[index]!;
    const outcome = followOutcome(track, index, thresholds, facts, memory);
    const view = {
      track,
      index,
      iteration,
      facts,
      parameters: thresholds,
      thresholds: thresholds.detectors,
      outcome,
    };
    readSignals(view, latches);
    const strengths = hasRisk(latches) ? strengthsOf(latches) : null;
    const target = (state: TrapState, risk: number) =>
      targetOf(state, latches, outcome, iteration, strengths && risk, thresholds);
    steps.push({
      ...{ iteration, strengths },
      below: target('healthy', 0),
      above: target('healthy', 1),
      kept: target('warning', 1),
    });
  }
  return { run, steps, examples: examplesOf(run, steps) };
}

/** Returns the training examples of a run: signal strengths, and whether a collapse was near. The weights of each run sum to 1. */
function examplesOf(run: LabeledRun, steps: readonly Step[]): Example[] {
  if (!isUsable(run)) return [];
  const first = firstOf(run);
  const found = steps.flatMap(({ iteration, strengths }) => {
    const until = run.collapsed === null ? Number.POSITIVE_INFINITY : run.collapsed - iteration;
    if (!strengths || iteration - first < settled || until < 0 || (until > near && until <= far)) return [];
    return { x: strengths, y: until <= near };
  });
  return found.map((each) => ({ ...each, weight: 1 / found.length }));
}

/** Excludes declining runs, whose outcome is unclear, and early collapses, which leave no time for signals. */
const isUsable = (run: LabeledRun) =>
  run.kind !== 'declining' && (run.collapsed === null || run.collapsed - firstOf(run) + 1 >= earliestOnset);

/** Returns the same alarms as {@link ourAlarms}, from signals read earlier. Without `isBacked`, the risk score alone starts a warning. */
function alarmsIn({ steps }: ReadRun, { weights: named, calm_for }: Thresholds, isBacked = true): number[] {
  const weights = weightsOf(named);
  const standing = newStanding();
  const alarms: number[] = [];
  for (const { iteration, strengths, below, above, kept } of steps) {
    const before = isAlarm(standing.state);
    const risk = strengths?.reduce((sum, strength, i) => sum + strength * weights[i]!, 0) ?? 0;
    const high = before || !isBacked ? kept : above;
    advance(standing, risk >= warningRisk(standing.state) ? high : below, iteration, calm_for);
    if (!before && isAlarm(standing.state)) alarms.push(iteration);
  }
  return alarms;
}

/**
 * Fits the weights by logistic regression and scales them so that the warning threshold maximizes the objective. Throws `labeled_runs_missing` if no run or
 * every run collapsed.
 */
export function fitWeights(runs: readonly LabeledRun[], start: Thresholds): Thresholds {
  const read = runs.map((run) => readRun(run, start));
  const fit = fitTo(read, start);
  if (fit) return fit;
  const usable = read.filter(({ examples }) => examples.length > 0).length;
  throw new Failure(
    'labeled_runs_missing',
    `Fitting needs runs that collapsed and runs that did not. Of ${count(runs.length, 'run')}, ${usable} can be used: those with metrics of their reasoning and enough iterations, also before a collapse.`,
    'Add runs of the missing kind (to `tuning` if it exists). Each needs a label.json or enough iterations for the rule in docs/collapse-rule.md.',
  );
}

/**
 * Cross-validates by leaving one setting out: scores the runs of each setting with weights and step sizes fitted to all other settings. Returns null if a
 * fold has runs of only one kind.
 */
export function crossValidate(
  runs: readonly LabeledRun[],
  start: Thresholds,
  progress: (share: number) => void = () => {},
): Score | null {
  // Signals depend only on the step sizes, which are the same in most folds.
  const cache = new Map<string, ReadRun[]>();
  const readBy = (thresholds: Thresholds): ReadRun[] => {
    const key = `${thresholds.detectors.steady_steps} ${thresholds.detectors.long_steps}`;
    const read = cache.get(key) ?? runs.map((run) => readRun(run, thresholds));
    cache.set(key, read);
    return read;
  };
  const evaluated: EvaluatedRun[] = [];
  for (const settings of new Set(runs.map((run) => run.settings))) {
    progress(evaluated.length / runs.length);
    const others = withStepSizes(
      runs.filter((run) => run.settings !== settings),
      start,
    );
    const read = readBy(others);
    const fit = fitTo(
      read.filter(({ run }) => run.settings !== settings),
      others,
    );
    if (!fit) return null;
    const left = read.filter(({ run }) => run.settings === settings);
    evaluated.push(...left.map((each) => evaluateRun(each.run, alarmsIn(each, fit))));
  }
  return scoreOf(evaluated);
}

/** Fits with both classes weighted equally. Returns null if no run or every run collapsed. */
function fitTo(read: readonly ReadRun[], start: Thresholds): Thresholds | null {
  const usable = read.filter(({ examples }) => examples.length > 0);
  if (new Set(usable.map(({ run }) => run.collapsed !== null)).size < 2) return null;
  const examples = usable.flatMap((each) => each.examples);
  const total = (kind: boolean) => examples.reduce((sum, { y, weight }) => sum + (y === kind ? weight : 0), 0);
  const totals = { true: total(true), false: total(false) };
  if (totals.true === 0) return null;
  const fit = fitRidge(
    examples.map(({ x, y, weight }) => ({ x, y, weight: weight / (2 * totals[`${y}`]) })),
    penalty,
  );
  const scores = examples.map(({ x }) => scoreBy(fit, x)).sort((a, b) => a - b);
  const tried = Array.from({ length: levels }, (_, i) => {
    const level = scores[Math.floor(scores.length * (0.5 + (0.5 * i) / levels))]!;
    const thresholds = { ...start, weights: thresholdWeights(fit, level) };
    return {
      thresholds,
      // Without the rule of two families: otherwise the fit could choose a level that relies on this rule, which few of its runs test.
      value: objective(scoreOf(read.map((each) => evaluateRun(each.run, alarmsIn(each, thresholds, false))))),
    };
  });
  const highest = Math.max(...tried.map((each) => each.value));
  // Takes the middle of the first range of adjacent best levels.
  const from = tried.findIndex((each) => each.value === highest);
  const length = tried.slice(from).findIndex((each) => each.value !== highest);
  const best = tried.slice(from, length === -1 ? undefined : from + length);
  return best[best.length >> 1]!.thresholds;
}

/** Scales the weights so that a score of `level` is a risk of 1. Rounded to two digits. Settings are capped so that they cannot trigger a warning alone. */
function thresholdWeights({ weights, bias }: Fit, level: number): Thresholds['weights'] {
  const scale = 1 / Math.max(0.5, level - bias);
  const named = weighted.map((place, i) => {
    const { name, stage } = detectors[place]!;
    const most = stage === 'setting' ? 0.49 : 2;
    return [name, Number(Math.min(most, weights[i]! * scale).toPrecision(2))];
  });
  return Object.fromEntries(named);
}

const weightsOf = (named: Thresholds['weights']) => weighted.map((place) => named[detectors[place]!.name]!);

const scoreBy = ({ weights, bias }: Fit, x: readonly number[]) =>
  x.reduce((sum, value, i) => sum + weights[i]! * value, bias);
