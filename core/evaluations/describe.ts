import type { Evaluation } from '../contract/contract.ts';
import { sentence } from '../contract/sentence.ts';
import type { RunConfig } from '../run-config/schema.ts';
import type { EvaluationResult } from '../run-directory/evaluations.ts';
import { type Evaluated, evaluationChanges, samplingOf } from './target.ts';

/** Returns an evaluation that has just started. */
export function runningEvaluation(
  name: string,
  checkpoint: number,
  { environment, ...settings }: Evaluated,
  changes: string[],
): Evaluation {
  const { label, type } = environment;
  const { levels, seed } = settings;
  return {
    ...{ name, checkpoint, label, environment: type, levels, ...samplingOf(settings), seed, changes, panel: null },
    ...{ state: 'running', time: Date.now(), done: 0, etaSeconds: null, metrics: null, failure: null },
  };
}

/** Returns an evaluation with its result. `config` is null if run.json is unreadable. */
export function finishedEvaluation(config: RunConfig | null, result: EvaluationResult): Evaluation {
  const { name, time, checkpoint, panel, environment, episodes, warnings } = result;
  const prefix = `evaluation/${environment.label}/`;
  const metrics = Object.entries(result.metrics).map(([key, value]) => [key.replace(prefix, ''), value]);
  const { levels, temperature, top_p, top_k, min_p, seed } = result;
  const target = { environment, levels, temperature, top_p, top_k, min_p, seed };
  return {
    ...runningEvaluation(name, checkpoint, target, config ? evaluationChanges(config, target) : []),
    ...{ state: 'done', time, panel, done: episodes, metrics: Object.fromEntries(metrics) },
    ...(warnings.length > 0 && { warnings: warnings.map(sentence) }),
  };
}
