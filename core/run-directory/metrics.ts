import description from './description.json' with { type: 'json' };

/** Metrics of `iteration` events (docs/formats/metrics.md). `rollout/action_share/<action>` is a pattern. The trainer may write others. */
export const metricNames: readonly string[] = description.metrics.map(({ name }) => name);

/** Written as `evaluation/<label>/<name>`. */
export const evaluationMetricNames: readonly string[] = description.evaluationMetrics.map(({ name }) => name);

/** Returns whether a metric may differ when a run is repeated or resumed. */
export const isMachineMetric = (name: string) => /^(time|throughput|memory)\//.test(name);
