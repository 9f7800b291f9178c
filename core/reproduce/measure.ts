import type { Series } from '../contract/contract.ts';
import { lastIterations } from '../contract/study-words.ts';
import { estimateMean, estimateShare } from '../studies/interval.ts';
import type { Claim, Measure } from './paper-study.ts';

/** A completed run of a sweep. */
export interface RunResult {
  seed: number;
  /** Series by metric name. */
  series: ReadonlyMap<string, Series>;
  /** Onset by the collapse rule, null for a run that did not collapse, undefined for a run that is too short. */
  collapsed: number | null | undefined;
}

/** A mean with its 95 % interval, over seeds or, for the success of a single run, over the levels of its evaluation. */
export interface Measured {
  mean: number;
  low: number | null;
  high: number | null;
  over: 'seeds' | 'levels';
  n: number;
}

type SuccessMeasure = Extract<Measure, { success: string }>;
type MetricMeasure = Extract<Measure, { metric: string }>;

/** Returns the metrics that a measure reads. */
export function metricsOf(measure: Measure): string[] {
  if ('collapsed' in measure) return [];
  if ('metric' in measure) return [measure.metric];
  return ['', '_low', '_high'].map((suffix) => `evaluation/${measure.environment}/success_rate${suffix}`);
}

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns success with its Wilson interval, or null if the run has no such evaluation. */
function successOf({ series }: RunResult, { success, environment }: SuccessMeasure) {
  const [rates, lows, highs] = metricsOf({ success, environment }).map((name) => series.get(name));
  if (!rates || rates.values.length === 0) return null;
  // An untrained run has only the evaluation before training.
  if (success !== 'before' && rates.values.length === 1) return null;
  const last = rates.values.length - 1;
  const at = { before: 0, after: last, best: rates.values.indexOf(Math.max(...rates.values)) }[success];
  return { mean: rates.values[at]!, low: lows?.values[at] ?? null, high: highs?.values[at] ?? null };
}

/** Returns the mean over the first or last iterations, at most half of all, or null without the metric. */
function metricOf({ series }: RunResult, { metric, at }: MetricMeasure): number | null {
  const values = series.get(metric)?.values ?? [];
  if (values.length < 2) return null;
  const count = Math.min(lastIterations, Math.floor(values.length / 2));
  return average(at === 'first' ? values.slice(0, count) : values.slice(-count));
}

/** Returns the value of a run, or null if it was not measured. */
const singleValue = (run: RunResult, measure: SuccessMeasure | MetricMeasure): number | null =>
  'success' in measure ? (successOf(run, measure)?.mean ?? null) : metricOf(run, measure);

/** Returns the mean of a measure, or null if no run measured it. */
export function measured(runs: readonly RunResult[], measure: SuccessMeasure | MetricMeasure): Measured | null {
  const values = runs.flatMap((run) => singleValue(run, measure) ?? []);
  if (values.length === 1 && 'success' in measure) {
    const single = runs.map((run) => successOf(run, measure)).find((each) => each !== null)!;
    return { ...single, over: 'levels', n: 1 };
  }
  const isShare = 'success' in measure || measure.unit === 'share';
  const estimate = isShare ? estimateShare(values) : estimateMean(values);
  if (!estimate) return null;
  const { n, mean, low, high } = estimate;
  // Neither shares nor numbers of tokens are negative.
  return { mean, low: low === null ? null : Math.max(0, low), high, over: 'seeds', n };
}

export interface Difference {
  mean: number;
  low: number | null;
  high: number | null;
}

/**
 * Returns the difference that a claim tests, or null if a side was not measured. With at least three common seeds its interval is Student's over the
 * differences of each seed; otherwise Newcombe's, from the intervals of both sides.
 */
export function differenceOf(
  higher: readonly RunResult[],
  lower: readonly RunResult[],
  { measure, lowerMeasure = measure }: Claim,
): Difference | null {
  if ('collapsed' in measure || 'collapsed' in lowerMeasure) return null;
  const pairs = higher.flatMap((run) => {
    const other = lower.find(({ seed }) => seed === run.seed);
    const [above, below] = [singleValue(run, measure), other ? singleValue(other, lowerMeasure) : null];
    return above === null || below === null ? [] : [above - below];
  });
  const paired = estimateMean(pairs);
  if (paired && paired.low !== null) return { mean: paired.mean, low: paired.low, high: paired.high };
  const [above, below] = [measured(higher, measure), measured(lower, lowerMeasure)];
  if (!above || !below) return null;
  const mean = above.mean - below.mean;
  if (above.low === null || above.high === null || below.low === null || below.high === null)
    return { mean, low: null, high: null };
  return {
    mean,
    low: mean - Math.hypot(above.mean - above.low, below.high - below.mean),
    high: mean + Math.hypot(above.high - above.mean, below.mean - below.low),
  };
}

/** Whether the whole interval of a difference is on the claimed side, on the other side, or neither. */
export type Verdict = 'agrees' | 'disagrees' | 'undecided' | 'not measured';

export function verdictOf(difference: Difference | null): Verdict {
  if (!difference) return 'not measured';
  if (difference.low !== null && difference.low > 0) return 'agrees';
  return difference.high !== null && difference.high < 0 ? 'disagrees' : 'undecided';
}
