import type { TrapState } from '../contract/echo-trap.ts';
import { Failure } from '../contract/failure.ts';
import { shippedCalibration } from './calibration.ts';
import { factsOf } from './facts.ts';
import type { LabelledRun } from './labelled-runs.ts';
import { isAlarm, moveOn, newStanding, targetOf } from './machine.ts';
import { Monitor } from './monitor.ts';
import { followOutcome, newOutcomeMemory } from './outcome.ts';
import { type Example, type Fit, fitRidge } from './ridge.ts';
import { counted, isCounted, strengthsOf } from './risk.ts';
import { firstForetold, type Judged, type Score, scoreOf } from './score.ts';
import { detectors, newLatches, readSignals } from './signals.ts';
import type { Thresholds } from './thresholds.ts';
import { median, Track } from './track.ts';

/** Finds what foretells what became of a set of labelled runs: the points of the signs, and which steps are long for their model. */

/** When the monitor alarms in a run: each time its state becomes `warning` or above. */
export function ourAlarms(run: LabelledRun, thresholds: Thresholds): number[] {
  const monitor = new Monitor(run.config, { ...shippedCalibration, thresholds });
  monitor.takeAll(run.points);
  return monitor.alarms;
}

export const judgeAll = (runs: readonly LabelledRun[], alarmsOf: (run: LabelledRun) => number[]): Judged[] =>
  runs.map((run) => judgedBy(run, alarmsOf(run)));

const judgedBy = (run: LabelledRun, alarms: number[]): Judged => ({
  run,
  first: firstOf(run),
  last: run.points.at(-1)?.iteration ?? 0,
  alarms,
});

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

/**
 * Thresholds with the model's own steps: steady are the shortest of a run that held, long those of the middle run that fell. As they were where these are no longer, or no run
 * tells them. The runs are taken for those of one model; one that wasn't trained at all says nothing.
 */
export function withStepsOf(runs: readonly LabelledRun[], start: Thresholds): Thresholds {
  const stepsWhere = (fell: boolean) =>
    runs.filter((run) => saysOfPoints(run) && (run.collapsed !== null) === fell).flatMap(stepsIn);
  const steady = Math.min(...stepsWhere(false));
  const long = median(stepsWhere(true));
  return long > steady ? { ...start, steady_steps: steady, long_steps: long } : start;
}

function stepsIn({ config }: LabelledRun): number[] {
  const { epochs, learningRate } = factsOf(config);
  return learningRate ? [epochs * learningRate] : [];
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

/** An iteration as far as points matter; all that it holds is the same whatever they are. */
interface Step {
  iteration: number;
  /** How far each sign that counts has come; null where points say nothing. */
  strengths: number[] | null;
  /** The states that are asked for at no risk, and from 1 on; what lies between differs in `watch` alone, which is no alarm. */
  below: TrapState;
  above: TrapState;
}

/** A run whose signs were read once, so that many points can be tried on it. */
interface ReadRun {
  run: LabelledRun;
  steps: Step[];
  examples: Example[];
}

function readRun(run: LabelledRun, thresholds: Thresholds): ReadRun {
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
    readSignals({ track, index, iteration, facts, thresholds, outcome }, latches);
    const strengths = isCounted(latches) ? strengthsOf(latches) : null;
    const target = (risk: number) => targetOf(latches, outcome, iteration, strengths && risk, thresholds);
    steps.push({ iteration, strengths, below: target(0), above: target(1) });
  }
  return { run, steps, examples: examplesOf(run, steps) };
}

/** What a run says of points: how far each sign had come by each iteration, and whether a fall was near. A long run counts no more than a short one. */
function examplesOf(run: LabelledRun, steps: readonly Step[]): Example[] {
  if (!saysOfPoints(run)) return [];
  const first = firstOf(run);
  const found = steps.flatMap(({ iteration, strengths }) => {
    const until = run.collapsed === null ? Number.POSITIVE_INFINITY : run.collapsed - iteration;
    if (!strengths || iteration - first < settled || until < 0 || (until > near && until <= far)) return [];
    return { x: strengths, y: until <= near };
  });
  return found.map((each) => ({ ...each, weight: 1 / found.length }));
}

/** Runs that declined may have been about to fall or not, and those that were lost at once had no time for signs. */
const saysOfPoints = (run: LabelledRun) =>
  run.kind !== 'declining' && (run.collapsed === null || run.collapsed - firstOf(run) + 1 >= firstForetold);

/** The alarms of {@link ourAlarms}, from signs that were read before. */
function alarmsIn({ steps }: ReadRun, { points, calm_for }: Thresholds): number[] {
  const weights = weightsOf(points);
  const standing = newStanding();
  const alarms: number[] = [];
  for (const { iteration, strengths, below, above } of steps) {
    const before = isAlarm(standing.state);
    const risk = strengths?.reduce((sum, strength, i) => sum + strength * weights[i]!, 0) ?? 0;
    moveOn(standing, risk >= 1 ? above : below, iteration, calm_for);
    if (!before && isAlarm(standing.state)) alarms.push(iteration);
  }
  return alarms;
}

/**
 * Thresholds whose points are those of a ridge regression on the runs, and whose warning lies where the same runs are told best. Throws `labelled_runs_missing` where no run
 * collapsed, or all did.
 */
export function fitPoints(runs: readonly LabelledRun[], start: Thresholds): Thresholds {
  const fit = fitTo(
    runs.map((run) => readRun(run, start)),
    start,
  );
  if (fit) return fit;
  throw new Failure(
    'labelled_runs_missing',
    'Points can only be fitted where some run collapsed and some run did not.',
    'Add runs of the missing kind, to `tuning` where there is one, each with a label.json or long enough for the rule (docs/collapse-rule.md).',
  );
}

/**
 * What a fit is worth on settings that it hasn't seen: the runs of each setting are judged by points and lengths of steps that were fitted to all the others. Null where a part of the
 * settings is left with runs of one kind.
 */
export function crossValidate(
  runs: readonly LabelledRun[],
  start: Thresholds,
  progress: (share: number) => void = () => {},
): Score | null {
  // Signs change with the lengths of steps alone, which are the same without most of the settings.
  const known = new Map<string, ReadRun[]>();
  const readBy = (thresholds: Thresholds): ReadRun[] => {
    const key = `${thresholds.steady_steps} ${thresholds.long_steps}`;
    const read = known.get(key) ?? runs.map((run) => readRun(run, thresholds));
    known.set(key, read);
    return read;
  };
  const judged: Judged[] = [];
  for (const settings of new Set(runs.map((run) => run.settings))) {
    progress(judged.length / runs.length);
    const others = withStepsOf(
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
    judged.push(...left.map((each) => judgedBy(each.run, alarmsIn(each, fit))));
  }
  return scoreOf(judged);
}

/** Both answers together weigh the same; null where no run collapsed, or all did. */
function fitTo(read: readonly ReadRun[], start: Thresholds): Thresholds | null {
  const says = read.filter(({ examples }) => examples.length > 0);
  if (new Set(says.map(({ run }) => run.collapsed !== null)).size < 2) return null;
  const examples = says.flatMap((each) => each.examples);
  const total = (kind: boolean) =>
    examples.reduce((sum, { y, weight }) => sum + (y === kind ? weight : 0), 0);
  const totals = { true: total(true), false: total(false) };
  if (totals.true === 0) return null;
  const fit = fitRidge(
    examples.map(({ x, y, weight }) => ({ x, y, weight: weight / (2 * totals[`${y}`]) })),
    penalty,
  );
  const scores = examples.map(({ x }) => scoreBy(fit, x)).sort((a, b) => a - b);
  const tried = Array.from({ length: levels }, (_, i) => {
    const level = scores[Math.floor(scores.length * (0.5 + (0.5 * i) / levels))]!;
    const thresholds = { ...start, points: pointsOf(fit, level) };
    return {
      thresholds,
      worth: worth(scoreOf(read.map((each) => judgedBy(each.run, alarmsIn(each, thresholds))))),
    };
  });
  const most = Math.max(...tried.map((each) => each.worth));
  // The middle of the levels from the first that is best on.
  const from = tried.findIndex((each) => each.worth === most);
  const length = tried.slice(from).findIndex((each) => each.worth !== most);
  const best = tried.slice(from, length === -1 ? undefined : from + length);
  return best[best.length >> 1]!.thresholds;
}

/** A score of `level` becomes a risk of one point, that of no sign at all none; rounded, since a third digit says nothing. What a run was given is no warning by itself, however far it goes. */
function pointsOf({ weights, bias }: Fit, level: number): Thresholds['points'] {
  const scale = 1 / Math.max(0.5, level - bias);
  const named = counted.map((place, i) => {
    const { name, stage } = detectors[place]!;
    const most = stage === 'setting' ? 0.49 : 2;
    return [name, Number(Math.min(most, weights[i]! * scale).toPrecision(2))];
  });
  return Object.fromEntries(named) as Thresholds['points'];
}

const weightsOf = (points: Thresholds['points']) =>
  counted.map((place) => points[detectors[place]!.name as keyof typeof points]);

const scoreBy = ({ weights, bias }: Fit, x: readonly number[]) =>
  x.reduce((sum, value, i) => sum + weights[i]! * value, bias);
