import { shippedCalibration } from './calibration.ts';
import type { LabelledRun } from './labelled-runs.ts';
import { Monitor } from './monitor.ts';
import { type Judged, type Score, scoreOf } from './score.ts';
import { type Thresholds, thresholdsSchema } from './thresholds.ts';

/** Searches thresholds that foretell what became of a set of labelled runs. */

/** When the monitor alarms in a run: each time its state becomes `warning` or above. */
export function ourAlarms(run: LabelledRun, thresholds: Thresholds): number[] {
  const monitor = new Monitor(run.config, { ...shippedCalibration, thresholds });
  monitor.takeAll(run.points);
  return monitor.alarms;
}

export const judgeAll = (runs: readonly LabelledRun[], alarmsOf: (run: LabelledRun) => number[]): Judged[] =>
  runs.map((run) => ({
    run,
    first: run.points.find(isTrained)?.iteration ?? 1,
    last: run.points.at(-1)?.iteration ?? 0,
    alarms: alarmsOf(run),
  }));

const isTrained = ({ metrics }: LabelledRun['points'][number]) => 'rollout/success_rate' in metrics;

/** How good a score is: what is missed counts most, then alarms in runs that need none, then the lead. */
export function worth(score: Score): number {
  const share = (kind: string) => {
    const { alarmed = 0, runs = 0 } = score.alarmed[kind] ?? {};
    return runs > 0 ? alarmed / runs : 0;
  };
  const falseRate = score.false_alarms_per_1000 ?? 0;
  return (
    (score.recall ?? 1) -
    0.15 * falseRate -
    share('solved') -
    0.15 * share('locked') +
    0.1 * Math.min(1, (score.median_lead ?? 0) / 40)
  );
}

/** One number of the thresholds: a key, or a sign's points. */
interface Knob {
  name: string;
  of: (thresholds: Thresholds) => number;
  /** Null where the value isn't allowed. */
  set: (thresholds: Thresholds, value: number) => Thresholds | null;
}

const checked = (thresholds: Thresholds): Thresholds | null =>
  thresholdsSchema.safeParse(thresholds).success ? thresholds : null;

function knobsOf(start: Thresholds): Knob[] {
  const { points, ...plain } = start;
  const plainKnobs = (Object.keys(plain) as (keyof typeof plain)[]).map(
    (name): Knob => ({
      name,
      of: (thresholds) => thresholds[name],
      set: (thresholds, value) => checked({ ...thresholds, [name]: value }),
    }),
  );
  const pointKnobs = (Object.keys(points) as (keyof typeof points)[]).map(
    (name): Knob => ({
      name: `points.${name}`,
      of: (thresholds) => thresholds.points[name],
      set: (thresholds, value) => checked({ ...thresholds, points: { ...thresholds.points, [name]: value } }),
    }),
  );
  return [...pointKnobs, ...plainKnobs];
}

/** What a number is tried at, as a share of what it is; three digits are enough. */
const factors = [0.5, 0.7, 0.85, 1.15, 1.4, 2];

function tries(knob: Knob, thresholds: Thresholds): Thresholds[] {
  const now = knob.of(thresholds);
  const whole = Number.isInteger(now) && knob.set(thresholds, now + 0.5) === null;
  const values = factors.map((factor) =>
    whole ? Math.round(now * factor) : Number((now * factor).toPrecision(3)),
  );
  return [...new Set(values)]
    .filter((value) => value !== now)
    .flatMap((value) => knob.set(thresholds, value) ?? []);
}

/** Least gain for which a number moves: what the runs say nothing of stays as it was. */
const leastGain = 0.003;

/** One number after the other, round after round, until a round no longer helps. */
export function fitThresholds(
  runs: readonly LabelledRun[],
  start: Thresholds,
  {
    rounds = 3,
    progress = () => {},
  }: { rounds?: number; progress?: (share: number, worth: number) => void } = {},
): Thresholds {
  const worthOf = (thresholds: Thresholds) =>
    worth(scoreOf(judgeAll(runs, (run) => ourAlarms(run, thresholds))));
  const knobs = knobsOf(start);
  let best = start;
  let most = worthOf(best);
  for (let round = 0; round < rounds; round += 1) {
    const before = most;
    for (const [i, knob] of knobs.entries()) {
      for (const tried of tries(knob, best)) {
        const now = worthOf(tried);
        if (now < most + leastGain) continue;
        [best, most] = [tried, now];
      }
      progress((round + (i + 1) / knobs.length) / rounds, most);
    }
    if (most === before) break;
  }
  return best;
}
