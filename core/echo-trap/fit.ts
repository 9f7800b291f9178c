import { Failure } from '../contract/failure.ts';
import { shippedCalibration } from './calibration.ts';
import { factsOf } from './facts.ts';
import type { LabelledRun } from './labelled-runs.ts';
import { Monitor } from './monitor.ts';
import { followOutcome, newOutcomeMemory } from './outcome.ts';
import { type Example, type Fit, fitRidge } from './ridge.ts';
import { counted, isCounted, strengthsOf } from './risk.ts';
import { firstForetold, type Judged, type Score, scoreOf } from './score.ts';
import { detectors, newLatches, readSignals } from './signals.ts';
import type { Thresholds } from './thresholds.ts';
import { Track } from './track.ts';

/** Finds the points of the signs that foretell what became of a set of labelled runs. */

/** When the monitor alarms in a run: each time its state becomes `warning` or above. */
export function ourAlarms(run: LabelledRun, thresholds: Thresholds): number[] {
  const monitor = new Monitor(run.config, { ...shippedCalibration, thresholds });
  monitor.takeAll(run.points);
  return monitor.alarms;
}

export const judgeAll = (runs: readonly LabelledRun[], alarmsOf: (run: LabelledRun) => number[]): Judged[] =>
  runs.map((run) => ({
    run,
    first: firstOf(run),
    last: run.points.at(-1)?.iteration ?? 0,
    alarms: alarmsOf(run),
  }));

const firstOf = ({ points }: LabelledRun) =>
  points.find(({ metrics }) => 'rollout/success_rate' in metrics)?.iteration ?? 1;

/** How good a score is: what is missed counts most, then alarms in runs that need none, then the lead. */
export function worth(score: Score): number {
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

/** Iterations before an onset that look like a fall to come, and those from which on it is too far off to say. */
const near = 50;
const far = 60;
/** Iterations that a run takes to have a normal. */
const settled = 8;
/** Of the weights, beside a loss whose examples weigh 1 together. */
const penalty = 0.03;
/** Levels of the score that a warning is tried at. */
const levels = 80;

/**
 * Thresholds whose points are those of a ridge regression on the runs, and whose warning lies where the same runs are told best. Throws `labelled_runs_missing` where no run
 * collapsed, or all did.
 */
export function fitPoints(
  runs: readonly LabelledRun[],
  start: Thresholds,
  progress: (share: number) => void = () => {},
): Thresholds {
  const used = runs.filter(saysOfPoints);
  const examples = used.flatMap((run) => examplesOf(run, start));
  const kinds = new Set(used.map(({ collapsed }) => collapsed !== null));
  const fit = kinds.size === 2 ? fitTo(examples) : null;
  if (!fit)
    throw new Failure(
      'labelled_runs_missing',
      'Points can only be fitted where some run collapsed and some run did not.',
      'Add runs of the missing kind to `tuning`, each with a label.json or long enough for the rule (docs/collapse-rule.md).',
    );
  const scores = examples.map(({ x }) => scoreBy(fit, x)).sort((a, b) => a - b);
  const tried = Array.from({ length: levels }, (_, i) => {
    const level = scores[Math.floor(scores.length * (0.5 + (0.5 * i) / levels))]!;
    const thresholds = withPoints(start, fit, level);
    progress((i + 1) / levels);
    return { thresholds, worth: worth(scoreOf(judgeAll(runs, (run) => ourAlarms(run, thresholds)))) };
  });
  const most = Math.max(...tried.map((each) => each.worth));
  // The middle of the levels from the first that is best on.
  const from = tried.findIndex((each) => each.worth === most);
  const length = tried.slice(from).findIndex((each) => each.worth !== most);
  const best = tried.slice(from, length === -1 ? undefined : from + length);
  return best[best.length >> 1]!.thresholds;
}

/** A score of `level` becomes a risk of one point, that of no sign at all none; rounded, since a third digit says nothing. */
function withPoints(thresholds: Thresholds, { weights, bias }: Fit, level: number): Thresholds {
  const scale = 1 / Math.max(0.5, level - bias);
  const named = counted.map((place, i) => [
    detectors[place]!.name,
    Number(Math.min(2, weights[i]! * scale).toPrecision(2)),
  ]);
  return { ...thresholds, points: Object.fromEntries(named) as Thresholds['points'] };
}

const scoreBy = ({ weights, bias }: Fit, x: readonly number[]) =>
  x.reduce((sum, value, i) => sum + weights[i]! * value, bias);

/** Both kinds together weigh the same; null where one is missing. */
function fitTo(examples: readonly Example[]): Fit | null {
  const total = (kind: boolean) =>
    examples.reduce((sum, { y, weight }) => sum + (y === kind ? weight : 0), 0);
  const totals = { true: total(true), false: total(false) };
  if (totals.true === 0 || totals.false === 0) return null;
  return fitRidge(
    examples.map(({ x, y, weight }) => ({ x, y, weight: weight / (2 * totals[`${y}`]) })),
    penalty,
  );
}

/** Runs that declined may have been about to fall or not, and those that were lost at once had no time for signs. */
const saysOfPoints = (run: LabelledRun) =>
  run.kind !== 'declining' && (run.collapsed === null || run.collapsed - firstOf(run) + 1 >= firstForetold);

/** What a run says of points: how far each sign had come by each iteration, and whether a fall was near. A long run counts no more than a short one. */
function examplesOf(run: LabelledRun, thresholds: Thresholds): Example[] {
  const first = firstOf(run);
  const facts = factsOf(run.config);
  const track = new Track();
  for (const point of run.points) track.put(point);
  const latches = newLatches();
  const memory = newOutcomeMemory();
  const found: { x: number[]; y: boolean }[] = [];
  for (let index = 0; index < track.length; index += 1) {
    if (!track.isPlayed(index)) continue;
    const iteration = track.iterations[index]!;
    const outcome = followOutcome(track, index, thresholds, facts, memory);
    readSignals({ track, index, iteration, facts, thresholds, outcome }, latches);
    if (!isCounted(latches)) continue;
    const until = run.collapsed === null ? Number.POSITIVE_INFINITY : run.collapsed - iteration;
    if (iteration - first < settled || until < 0 || (until > near && until <= far)) continue;
    found.push({ x: strengthsOf(latches), y: until <= near });
  }
  return found.map((each) => ({ ...each, weight: 1 / found.length }));
}
