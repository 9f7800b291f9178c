import { type RunKind, type RunLabel, runKind } from '../contract/echo-trap.ts';
import { evaluatedSuccess } from '../contract/run-facts.ts';

/** Implements docs/collapse-rule.md, which labels runs. It is independent of the detectors, which are evaluated against it. */

export const kinds = runKind.options;
/** The kinds of collapse. */
export const kindsOfCollapse: readonly RunKind[] = ['template', 'chaos'];

export interface Point {
  iteration: number;
  metrics: Record<string, number>;
}

/** Metrics that the rule reads, besides evaluation success. */
export const ruleSeries = [
  'rollout/success_rate',
  'rollout/format_valid_rate',
  'rollout/entropy',
  'rollout/template_share',
  'rollout/distinct_first_thoughts',
] as const;

/** Success in the window: lost below half of the peak, losing below four fifths. `least`: minimum peak. */
export const lost = 0.5;
const losing = 0.8;
export const least = 0.15;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns the number of iterations that cover at least 80 levels (10 or more). */
export const windowOf = (groups: number) => Math.max(10, Math.ceil(80 / groups));

/** Evaluations replace rollouts if there are this many, at most `widestGap` iterations apart, because their levels are fixed. */
const fewestEvaluations = 8;
const widestGap = 10;

/**
 * Returns the label of a run, or null if it is too short or has no success metric.
 *
 * `points`: one per iteration, ascending; iteration 0 may have the evaluation before training. `groups`: rollout.groups. `groupSize`: rollout.group_size.
 */
export function labelRun(points: readonly Point[], groups: number, groupSize = 16): RunLabel | null {
  const trained = points.filter(
    ({ iteration, metrics }) => iteration > 0 && Number.isFinite(metrics['rollout/success_rate']),
  );
  const evaluated = evaluations(points, 1);
  const isPaired =
    evaluated.length >= fewestEvaluations &&
    evaluated.every(({ iteration }, i) => i === 0 || iteration - evaluated[i - 1]!.iteration <= widestGap);
  const window = isPaired ? widestGap : windowOf(groups);
  if (trained.length < 4 * window) return null;
  const first = trained[0]!.iteration;
  const last = trained.at(-1)!.iteration;
  /** Returns the values of a metric in iterations `from` to `to`. */
  const series: Series = (name, from, to) => within(trained, from, to).flatMap(({ metrics }) => metrics[name] ?? []);
  const success = isPaired
    ? evaluated
    : trained.map(({ iteration, metrics }) => ({ iteration, value: metrics['rollout/success_rate']! }));
  const successIn = (from: number, to: number) => mean(within(success, from, to).map(({ value }) => value));

  const before = evaluations(points, 0).find(({ iteration }) => iteration < first)?.value ?? 0;
  if (before >= least && successIn(first, first + window - 1) < lost * before)
    return { collapsed: first, kind: kindOfCollapse(series, window, first, first, first + window - 1) };
  let peak = 0;
  /** The iteration after the last iteration without a loss. */
  let onset = first;
  let now = 0;
  for (const { iteration } of success) {
    if (iteration < first + window - 1) continue;
    now = successIn(iteration - window + 1, iteration);
    peak = Math.max(peak, now);
    if (peak >= least && now < lost * peak)
      return { collapsed: onset, kind: kindOfCollapse(series, window, first, onset, iteration) };
    if (now >= losing * peak) onset = Math.min(iteration + 1, last);
  }

  if (successIn(last - 19, last) >= 0.95) return { collapsed: null, kind: 'solved' };
  if (now < losing * peak) return { collapsed: null, kind: 'declining' };
  const shares = series('rollout/template_share', last - 29, last);
  const distinct = series('rollout/distinct_first_thoughts', last - 29, last);
  const singleReasoning =
    shares.length > 0 ? mean(shares) >= 0.9 : distinct.length > 0 && mean(distinct) <= 1.5 / groupSize;
  const moved = Math.abs(successIn(last - 14, last) - successIn(last - 29, last - 15));
  return { collapsed: null, kind: singleReasoning && moved < 0.05 ? 'locked' : 'healthy' };
}

/** Returns the items of iterations `from` to `to`; the items must ascend. */
const within = <Item extends { iteration: number }>(items: readonly Item[], from: number, to: number) =>
  items.slice(firstFrom(items, from), firstFrom(items, to + 1));

/** Returns the index of the first item at or after an iteration, by bisection. */
function firstFrom(items: readonly { iteration: number }[], from: number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle]!.iteration < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the success of each evaluation from an iteration on. */
const evaluations = (points: readonly Point[], from: number): { iteration: number; value: number }[] =>
  points.flatMap(({ iteration, metrics }) => {
    const value = iteration >= from ? evaluatedSuccess(metrics) : undefined;
    return value === undefined ? [] : { iteration, value };
  });

type Series = (name: (typeof ruleSeries)[number], from: number, to: number) => number[];

/** Determines the kind of collapse over iterations `onset` to `end`. */
function kindOfCollapse(series: Series, window: number, first: number, onset: number, end: number): RunKind {
  const valid = series('rollout/format_valid_rate', onset, end);
  const before = series('rollout/format_valid_rate', first, Math.max(onset, first + window) - 1);
  const means = before.map((_, index) => mean(before.slice(Math.max(0, index - window + 1), index + 1)));
  const best = means.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  if (valid.length > 0 && mean(valid) < 0.8 * best) return 'chaos';
  const entropy = series('rollout/entropy', onset, end);
  const atFirst = series('rollout/entropy', first, first + window - 1);
  if (entropy.length > 0 && atFirst.length > 0 && mean(entropy) > 1.5 * mean(atFirst)) return 'chaos';
  return 'template';
}
