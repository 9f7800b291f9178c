import { evaluatedLabel } from '../contract/run-facts.ts';
import { mean, type Point } from './track.ts';

/**
 * Two published ways to notice a collapse, written anew from their descriptions, for comparison on the same runs: RAGEN-2's stop rules (its guide to filtering
 * and early stopping) and rlwatch's detectors with their default settings (its pages on detectors and configuration). Each gives the iterations of its alarms.
 */

type Values = readonly { iteration: number; value: number }[];

/** The known values of the first of some metrics that a run has. */
function seriesOf(points: readonly Point[], ...names: string[]): Values {
  const known = (name: string) =>
    points.flatMap(({ iteration, metrics }) => {
      const value = metrics[name];
      return typeof value === 'number' ? { iteration, value } : [];
    });
  return names.map(known).find((values) => values.length > 0) ?? [];
}

/** The first iteration at which `count` values in a row have been so. */
function firstStretch(values: Values, count: number, is: (value: number) => boolean): number | null {
  let stretch = 0;
  for (const { iteration, value } of values) {
    stretch = is(value) ? stretch + 1 : 0;
    if (stretch >= count) return iteration;
  }
  return null;
}

/** RAGEN-2 stops once: on a spread that has died, on validations without success, or on filters that keep nothing. */
export function ragen2Alarms(points: readonly Point[]): number[] {
  const spread = seriesOf(points, 'rollout/reward_std_in_group');
  const baseline = mean(spread.slice(0, 10).map(({ value }) => value));
  const labels = new Set(
    points.flatMap(({ metrics }) => Object.keys(metrics)).filter((name) => evaluatedLabel(name)),
  );
  const stops = [
    firstStretch(spread.slice(10), 10, (value) => value < 0.1 * baseline),
    ...[...labels].map((name) => firstStretch(seriesOf(points, name), 5, (value) => value < 0.01)),
    firstStretch(seriesOf(points, 'filter/kept_groups'), 5, (value) => value === 0),
  ].filter((iteration) => iteration !== null);
  return stops.length > 0 ? [Math.min(...stops)] : [];
}

interface Raised {
  iteration: number;
  severity: 'warning' | 'critical';
}

/** Steps in which a detector says nothing more of the same severity, and the most that one run is told. */
const cooldown = 100;
const mostAlerts = 50;

export function rlwatchAlarms(points: readonly Point[]): number[] {
  const spread = seriesOf(points, 'rollout/reward_std_in_group');
  const raised = [
    lowEntropy(seriesOf(points, 'rollout/entropy')),
    standsOut(
      seriesOf(points, 'actor/kl_to_reference', 'diagnostics/kl_from_start', 'actor/approximate_kl'),
      {
        frozen: false,
        levels: (known) => [average(known) + 3 * deviation(known), average(known) + 4.5 * deviation(known)],
      },
    ),
    varianceGrows(spread.map(({ iteration, value }) => ({ iteration, value: value ** 2 }))),
    standsOut(seriesOf(points, 'advantage/std'), {
      frozen: false,
      levels: (known) => [3 * average(known), 6 * average(known)],
    }),
    standsOut(seriesOf(points, 'actor/grad_norm'), {
      frozen: true,
      levels: (known) => [average(known) + 3 * deviation(known), average(known) + 4.5 * deviation(known)],
    }),
    drifts(seriesOf(points, 'rollout/reward_mean')),
    seriesOf(points, 'actor/loss')
      .filter(({ value }) => !Number.isFinite(value))
      .map(({ iteration }): Raised => ({ iteration, severity: 'critical' })),
  ];
  return raised
    .flatMap(cooledDown)
    .sort((a, b) => a - b)
    .slice(0, mostAlerts);
}

function cooledDown(raised: readonly Raised[]): number[] {
  const last = new Map<string, number>();
  return raised.flatMap(({ iteration, severity }) => {
    if (iteration - (last.get(severity) ?? Number.NEGATIVE_INFINITY) < cooldown) return [];
    last.set(severity, iteration);
    return iteration;
  });
}

/** Under 1 nat for 25 steps in a row, and for 50; ready again once it is above. */
function lowEntropy(entropy: Values): Raised[] {
  let stretch = 0;
  return entropy.slice(20).flatMap(({ iteration, value }): Raised[] => {
    stretch = value < 1 ? stretch + 1 : 0;
    if (stretch === 25) return [{ iteration, severity: 'warning' }];
    return stretch === 50 ? [{ iteration, severity: 'critical' }] : [];
  });
}

const average = mean;
const deviation = (values: readonly number[]) => {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
};

/** Above levels that the last 100 values say, or the first 100 once they are there; told once an episode. */
function standsOut(
  values: Values,
  { frozen, levels }: { frozen: boolean; levels: (known: number[]) => [number, number] },
): Raised[] {
  const known: number[] = [];
  let told = 0;
  return values.flatMap(({ iteration, value }, step): Raised[] => {
    const [warning, critical] = known.length >= 2 ? levels(known) : [Number.POSITIVE_INFINITY, 0];
    if (!frozen || known.length < 100) known.push(value);
    if (known.length > 100) known.shift();
    if (step < 20) return [];
    const level = value <= warning ? 0 : value <= critical ? 1 : 2;
    const fresh = level > told;
    told = level === 0 ? 0 : Math.max(told, level);
    return fresh ? [{ iteration, severity: level === 2 ? 'critical' : 'warning' }] : [];
  });
}

/** Three and six times the mean of the 20 values after the first 50. */
function varianceGrows(variances: Values): Raised[] {
  const baseline = mean(variances.slice(50, 70).map(({ value }) => value));
  let told = 0;
  return variances.slice(70).flatMap(({ iteration, value }): Raised[] => {
    const level = value > 6 * baseline ? 2 : value > 3 * baseline ? 1 : 0;
    const fresh = level > told;
    told = level === 0 ? 0 : Math.max(told, level);
    return fresh ? [{ iteration, severity: level === 2 ? 'critical' : 'warning' }] : [];
  });
}

/** 50 steps in one direction, by more than 0.1 together. */
function drifts(rewards: Values): Raised[] {
  let direction = 0;
  let stretch = 0;
  let from = 0;
  return rewards.slice(50).flatMap(({ iteration, value }, i, all): Raised[] => {
    const before = all[i - 1]?.value ?? value;
    const now = Math.sign(value - before);
    if (now === 0 || now !== direction) {
      direction = now;
      stretch = 0;
      from = before;
    }
    stretch += 1;
    return stretch === 50 && Math.abs(value - from) > 0.1 ? [{ iteration, severity: 'warning' }] : [];
  });
}
