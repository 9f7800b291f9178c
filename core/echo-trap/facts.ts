import { findEnvironment } from '../environments/registry.ts';
import type { RunConfig } from '../run-config/run-config.ts';

/** What detectors need to know of a run beside its metrics. */
export interface Facts {
  /** Distance of the worst score that an episode can have from the best, in rewards; null where that isn't known. */
  rewardRange: number | null;
  /** Boards of an iteration: what its mean is over. */
  groups: number;
  /** How often an iteration goes over its episodes. */
  epochs: number;
  /** Null where that isn't known. */
  learningRate: number | null;
  /** Whether an environment is trained on: what is evaluated of another says nothing of how well training may go. */
  isTrained: (label: string) => boolean;
}

/** Of a configuration of today's form; of one that this version can't read, as far as it says. */
export function factsOf(config: unknown): Facts {
  const { environments, rollout, policy_loss, optimizer } = (config ?? {}) as Partial<RunConfig>;
  const ranges = (Array.isArray(environments) ? environments : []).map(
    ({ type, config: own, max_actions }: RunConfig['environments'][number]) =>
      findEnvironment(type)?.rewardRange?.(own ?? {}, max_actions ?? 10) ?? null,
  );
  return {
    rewardRange: ranges.length > 0 && ranges.every((range) => range !== null) ? Math.max(...ranges) : null,
    groups: rollout?.groups ?? 8,
    epochs: policy_loss?.epochs ?? 1,
    learningRate: optimizer?.learning_rate ?? null,
    isTrained: isTrainedIn(Array.isArray(environments) ? environments : null),
  };
}

/** Nothing is known of a share where another program trained: its evaluations may be of anything. */
const isTrainedIn = (environments: RunConfig['environments'] | null) => (label: string) =>
  environments === null || environments.some((each) => each.label === label && each.share > 0);
