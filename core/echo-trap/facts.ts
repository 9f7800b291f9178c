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
}

type Environment = Pick<RunConfig['environments'][number], 'type' | 'config' | 'share' | 'max_actions'>;

/** Of a configuration of today's form; of one that this version can't read, as far as it says. */
export function factsOf(config: unknown): Facts {
  const { environments, rollout, policy_loss, optimizer } = (config ?? {}) as Partial<RunConfig>;
  const ranges = (Array.isArray(environments) ? environments : []).map(rewardRange);
  return {
    rewardRange: ranges.length > 0 && ranges.every((range) => range !== null) ? Math.max(...ranges) : null,
    groups: rollout?.groups ?? 8,
    epochs: policy_loss?.epochs ?? 1,
    learningRate: optimizer?.learning_rate ?? null,
  };
}

/** By the environments' own rules; penalties for form are small beside them and left out. */
function rewardRange({ type, config, max_actions }: Environment): number | null {
  const number = (name: string, otherwise: number) => Number(config?.[name] ?? otherwise);
  switch (type) {
    case 'frozen-lake':
      return 1;
    case 'bandit': {
      const payouts = [number('lo_arm_score', 0.1), number('hi_arm_loscore', 0), number('hi_arm_hiscore', 1)];
      return Math.max(...payouts) - Math.min(...payouts, 0);
    }
    case 'sokoban':
      // A move costs 0.1; a box on a target brings 1, the last one 10 more.
      return number('num_boxes', 1) + 10 + 0.1 * (max_actions ?? 10);
    default:
      return null;
  }
}
