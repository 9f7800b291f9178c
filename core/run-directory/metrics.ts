import description from './description.json' with { type: 'json' };

/** Every metric of an `iteration` event, as docs/formats/metrics.md lists them (`rollout/action_share/<action>` stands for several); the trainer may write others, which are shown by their names. */
export const metricNames: readonly string[] = description.metrics.map(({ name }) => name);

/** Each comes as `rollout/<label>/<name>` too, where several environments are trained. */
export const environmentMetricNames: readonly string[] = description.metrics
  .filter((metric) => 'by_environment' in metric)
  .map(({ name }) => name.slice('rollout/'.length));

/** Each comes as `evaluation/<label>/<name>`. */
export const evaluationMetricNames: readonly string[] = description.evaluationMetrics.map(({ name }) => name);

/** The only ones that may differ between a run and its repetition or resumption. */
export const isMachineMetric = (name: string) => /^(time|throughput|memory)\//.test(name);
