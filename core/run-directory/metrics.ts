import description from './description.json' with { type: 'json' };

/** Metrics of `iteration` events (docs/formats/metrics.md). `rollout/action_share/<action>` stands for several. The trainer may write others. */
export const metricNames: readonly string[] = description.metrics.map(({ name }) => name);

/** Also written as `rollout/<label>/<name>` if several environments are trained. */
export const environmentMetricNames: readonly string[] = description.metrics
  .filter((metric) => 'by_environment' in metric)
  .map(({ name }) => name.slice('rollout/'.length));

/** Written as `evaluation/<label>/<name>`. */
export const evaluationMetricNames: readonly string[] = description.evaluationMetrics.map(({ name }) => name);

/** Returns whether a metric may differ when a run is repeated or resumed. */
export const isMachineMetric = (name: string) => /^(time|throughput|memory)\//.test(name);
