import { evaluatedLabel } from '../contract/run-facts.ts';
import { mean, median, type Point } from './track.ts';

/**
 * Three published collapse detectors, reimplemented from their documentation for comparison on the same runs: RAGEN-2's stop rules (guide to filtering and
 * early stopping), rlwatch's detectors and Flight Recorder's, with default settings. Each returns the iterations of its alarms.
 */

type Values = readonly { iteration: number; value: number }[];

/** Returns the values of the first metric that the run has. */
function seriesOf(points: readonly Point[], ...names: string[]): Values {
  const valuesOf = (name: string) =>
    points.flatMap(({ iteration, metrics }) => {
      const value = metrics[name];
      return typeof value === 'number' ? { iteration, value } : [];
    });
  return names.map(valuesOf).find((values) => values.length > 0) ?? [];
}

/** Returns the first iteration that completes `count` consecutive matching values, or null. */
function firstStretch(values: Values, count: number, is: (value: number) => boolean): number | null {
  let stretch = 0;
  for (const { iteration, value } of values) {
    stretch = is(value) ? stretch + 1 : 0;
    if (stretch >= count) return iteration;
  }
  return null;
}

/** Returns RAGEN-2's alarm, raised once: if the reward std vanishes, validation success stays near 0, or the filter keeps no groups. */
export function ragen2Alarms(points: readonly Point[]): number[] {
  const rewardStd = seriesOf(points, 'rollout/reward_std_in_group');
  const baseline = mean(rewardStd.slice(0, 10).map(({ value }) => value));
  const labels = new Set(points.flatMap(({ metrics }) => Object.keys(metrics)).filter((name) => evaluatedLabel(name)));
  const stops = [
    firstStretch(rewardStd.slice(10), 10, (value) => value < 0.1 * baseline),
    ...[...labels].map((name) => firstStretch(seriesOf(points, name), 5, (value) => value < 0.01)),
    firstStretch(seriesOf(points, 'filter/kept_groups'), 5, (value) => value === 0),
  ].filter((iteration) => iteration !== null);
  return stops.length > 0 ? [Math.min(...stops)] : [];
}

/** Flight Recorder's settings: steps of the warm-up, radius of the tube, slack and limit of the CUSUM, and steps that an alarm needs. */
const recorder = { warmUp: 30, radius: 3, slack: 0.5, limit: 5, steps: 5 };

/**
 * Returns Flight Recorder's alarms: KL acceleration, entropy trend and advantage drift leave a tube of the warm-up's median and MAD, and the CUSUM of KL
 * acceleration is above its limit, for several steps. Drift is the change of the advantages' std, because runs don't keep the distributions that it compares.
 */
export function flightRecorderAlarms(points: readonly Point[]): number[] {
  const kl = seriesOf(points, 'actor/kl_to_reference', 'diagnostics/kl_from_start', 'actor/approximate_kl');
  const acceleration = standardized(changes(changes(kl)));
  const others = [seriesOf(points, 'rollout/entropy'), seriesOf(points, 'advantage/std')].map(
    (values) => new Map(standardized(changes(values)).map(({ iteration, value }) => [iteration, value])),
  );
  let [sum, stretch] = [0, 0];
  return acceleration.flatMap(({ iteration, value }, step) => {
    if (step < recorder.warmUp) return [];
    sum = Math.max(0, sum + value - recorder.slack);
    const distance = Math.hypot(value, ...others.map((each) => each.get(iteration) ?? 0)) / recorder.radius;
    stretch = distance > 1 && sum > recorder.limit ? stretch + 1 : 0;
    return stretch === recorder.steps ? [iteration] : [];
  });
}

/** Returns the change of each value from the one before. */
const changes = (values: Values): Values =>
  values.slice(1).map(({ iteration, value }, i) => ({ iteration, value: value - values[i]!.value }));

/** Returns distances from the median of the warm-up, in its deviations (MAD). */
function standardized(values: Values): Values {
  const start = values.slice(0, recorder.warmUp).map(({ value }) => value);
  if (start.length === 0) return [];
  const middle = median(start);
  // 1.4826 makes the MAD of a normal distribution its standard deviation.
  const deviation = 1.4826 * median(start.map((value) => Math.abs(value - middle)));
  return values.map(({ iteration, value }) => ({ iteration, value: (value - middle) / (deviation || 1e-12) }));
}

interface Raised {
  iteration: number;
  severity: 'warning' | 'critical';
}

/** Steps before the same severity can be raised again, and the maximum number of alerts per run. */
const cooldown = 100;
const maxAlerts = 50;

export function rlwatchAlarms(points: readonly Point[]): number[] {
  const rewardStd = seriesOf(points, 'rollout/reward_std_in_group');
  const raised = [
    lowEntropy(seriesOf(points, 'rollout/entropy')),
    outliers(
      seriesOf(points, 'actor/kl_to_reference', 'diagnostics/kl_from_start', 'actor/approximate_kl'),
      deviations,
    ),
    varianceGrows(rewardStd.map(({ iteration, value }) => ({ iteration, value: value ** 2 }))),
    outliers(seriesOf(points, 'advantage/std'), (recent) => [3 * mean(recent), 6 * mean(recent)]),
    outliers(seriesOf(points, 'actor/grad_norm'), deviations, true),
    drifts(seriesOf(points, 'rollout/reward_mean')),
    seriesOf(points, 'actor/loss')
      .filter(({ value }) => !Number.isFinite(value))
      .map(({ iteration }): Raised => ({ iteration, severity: 'critical' })),
  ];
  return raised
    .flatMap(cooledDown)
    .sort((a, b) => a - b)
    .slice(0, maxAlerts);
}

function cooledDown(raised: readonly Raised[]): number[] {
  const last = new Map<string, number>();
  return raised.flatMap(({ iteration, severity }) => {
    if (iteration - (last.get(severity) ?? Number.NEGATIVE_INFINITY) < cooldown) return [];
    last.set(severity, iteration);
    return iteration;
  });
}

/** Alerts on an entropy below 1 nat for 25 (warning) or 50 (critical) consecutive steps. */
function lowEntropy(entropy: Values): Raised[] {
  let stretch = 0;
  return entropy.slice(20).flatMap(({ iteration, value }): Raised[] => {
    stretch = value < 1 ? stretch + 1 : 0;
    if (stretch === 25) return [{ iteration, severity: 'warning' }];
    return stretch === 50 ? [{ iteration, severity: 'critical' }] : [];
  });
}

/** Returns the thresholds for a warning and a critical alert. */
type Levels = (recent: readonly number[]) => [number, number];

/** 3 and 4.5 standard deviations above the mean. */
const deviations: Levels = (recent) => {
  const middle = mean(recent);
  const deviation = Math.sqrt(mean(recent.map((value) => (value - middle) ** 2)));
  return [middle + 3 * deviation, middle + 4.5 * deviation];
};

/** Alerts on values above thresholds computed from the last 100 values, or from the first 100 if `frozen`, once per excursion. */
function outliers(values: Values, levels: Levels, frozen = false): Raised[] {
  const recent: number[] = [];
  const raise = excursions();
  return values.flatMap(({ iteration, value }, step): Raised[] => {
    const [warning, critical] = recent.length >= 2 ? levels(recent) : [Number.POSITIVE_INFINITY, 0];
    if (!frozen || recent.length < 100) recent.push(value);
    if (recent.length > 100) recent.shift();
    return step < 20 ? [] : raise(iteration, value <= warning ? 0 : value <= critical ? 1 : 2);
  });
}

/** Returns a function that raises each level (0: none, 1: warning, 2: critical) once per excursion. */
function excursions() {
  let raised = 0;
  return (iteration: number, level: number): Raised[] => {
    const fresh = level > raised;
    raised = level === 0 ? 0 : Math.max(raised, level);
    return fresh ? [{ iteration, severity: level === 2 ? 'critical' : 'warning' }] : [];
  };
}

/** Alerts on a variance above 3 (warning) or 6 (critical) times the mean of steps 50 to 69. */
function varianceGrows(variances: Values): Raised[] {
  const baseline = mean(variances.slice(50, 70).map(({ value }) => value));
  const raise = excursions();
  return variances
    .slice(70)
    .flatMap(({ iteration, value }) => raise(iteration, value > 6 * baseline ? 2 : value > 3 * baseline ? 1 : 0));
}

/** Alerts on 50 steps in one direction with a total change above 0.1. */
function drifts(rewards: Values): Raised[] {
  let direction = 0;
  let stretch = 0;
  let from = 0;
  return rewards.slice(50).flatMap(({ iteration, value }, i, all): Raised[] => {
    const before = all[i - 1]?.value ?? value;
    const sign = Math.sign(value - before);
    if (sign === 0 || sign !== direction) {
      direction = sign;
      stretch = 0;
      from = before;
    }
    stretch += 1;
    return stretch === 50 && Math.abs(value - from) > 0.1 ? [{ iteration, severity: 'warning' }] : [];
  });
}
