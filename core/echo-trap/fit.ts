import { shippedCalibration } from './calibration.ts';
import type { LabelledRun } from './labelled-runs.ts';
import { Monitor } from './monitor.ts';
import { type Judged, type Score, scoreOf } from './score.ts';
import { type Thresholds, thresholdsSchema } from './thresholds.ts';

/** Searches thresholds that foretell what became of a set of labelled runs. */

export const lastIteration = (points: LabelledRun['points']) =>
  Math.max(0, ...points.map(({ iteration }) => iteration));

/** When the monitor alarms in a run: each time its state becomes `warning` or above. */
export function ourAlarms(run: LabelledRun, thresholds: Thresholds): number[] {
  const monitor = new Monitor(run.config, { ...shippedCalibration, thresholds });
  monitor.takeAll(run.points);
  return monitor.alarms;
}

export const judgeAll = (runs: readonly LabelledRun[], alarmsOf: (run: LabelledRun) => number[]): Judged[] =>
  runs.map((run) => ({ run, iterations: lastIteration(run.points), alarms: alarmsOf(run) }));

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

/** What one threshold is tried at, beside what it is. */
const factors = [0.6, 0.8, 0.9, 1.1, 1.25, 1.6];

function around(name: keyof Thresholds, value: number): number[] {
  const whole = thresholdsSchema.shape[name].format === 'safeint';
  return [...new Set(factors.map((factor) => (whole ? Math.round(value * factor) : value * factor)))].filter(
    (tried) => tried !== value && thresholdsSchema.shape[name].safeParse(tried).success,
  );
}

/**
 * One threshold after the other, round after round, until a round no longer helps. A threshold moves only where that is worth more than a little, so that what
 * the runs say nothing of stays as it was.
 */
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
  const names = Object.keys(start) as (keyof Thresholds)[];
  let best = start;
  let most = worthOf(best);
  for (let round = 0; round < rounds; round += 1) {
    const before = most;
    for (const [i, name] of names.entries()) {
      for (const value of around(name, best[name])) {
        const tried = { ...best, [name]: value };
        const now = worthOf(tried);
        if (now <= most + 0.002) continue;
        [best, most] = [tried, now];
      }
      progress((round + (i + 1) / names.length) / rounds, most);
    }
    if (most <= before) break;
  }
  return best;
}
