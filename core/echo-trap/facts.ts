import { findEnvironment } from '../environments/registry.ts';
import type { RunConfig } from '../run-config/run-config.ts';

/** Settings of a run that detectors use. */
export interface Facts {
  /** Difference between the best and the worst possible episode reward; null if unknown. */
  rewardRange: number | null;
  /** Groups per iteration. */
  groups: number;
  /** Passes over the episodes per iteration. */
  epochs: number;
  /** Null if unknown. */
  learningRate: number | null;
  /** Returns whether an environment is trained on. Evaluations of other environments are ignored. */
  isTrained: (label: string) => boolean;
}

/** Reads the facts of a configuration; missing parts get defaults. */
export function factsOf(config: unknown): Facts {
  const { environments, reward, rollout, policy_loss, optimizer } = (config ?? {}) as Partial<RunConfig>;
  const ranges = (Array.isArray(environments) ? environments : []).map(
    ({ type, config: own, max_actions = 10, max_turns = 1 }: RunConfig['environments'][number]) => {
      const range = findEnvironment(type)?.rewardRange?.(own ?? {}, max_actions);
      if (range === undefined || reward?.program?.command) return null;
      const costs = (reward?.step_cost ?? 0) * max_actions + (reward?.length_cost ?? 0) * max_turns;
      const claims = 2 * ((reward?.grounding_weight ?? 0) + (reward?.faithfulness_weight ?? 0));
      return (reward?.environment_weight ?? 1) * range + (reward?.success_bonus ?? 0) + costs + claims;
    },
  );
  return {
    rewardRange: ranges.length > 0 && ranges.every((range) => range !== null) ? Math.max(...ranges) : null,
    groups: rollout?.groups ?? 8,
    epochs: policy_loss?.epochs ?? 1,
    learningRate: optimizer?.learning_rate ?? null,
    isTrained: isTrainedIn(Array.isArray(environments) ? environments : null),
  };
}

/** Returns whether a run trains on an environment. Those of imported runs have no share, so all their evaluations count. */
const isTrainedIn = (environments: RunConfig['environments'] | null) => (label: string) =>
  environments === null || environments.some((each) => each.label === label && (each.share ?? 1) > 0);
