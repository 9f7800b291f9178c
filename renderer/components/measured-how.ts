import { count } from '../../core/contract/numbers.ts';
import { settingAt } from './setting-at.ts';

/** Describes how a run's evaluations measure success: `evaluation (T 0.5, 256 fixed levels)`. Leaves out unknown settings. */
export function describeEvaluation(config: unknown): string {
  const levels = settingAt(config, 'evaluation.levels');
  return named('evaluation', [temperatureText(config, 'evaluation'), levels && count(Number(levels), 'fixed level')]);
}

/** Describes how a run's rollouts measure success: `training (T 1)`. */
export const describeRollout = (config: unknown): string => named('training', [temperatureText(config, 'rollout')]);

/** Returns the sampling temperature as `T 0.5`; empty if it is unknown. */
export function temperatureText(config: unknown, of: 'evaluation' | 'rollout'): string {
  const temperature = settingAt(config, `${of}.temperature`);
  return temperature === undefined ? '' : `T ${temperature}`;
}

function named(name: string, details: readonly unknown[]): string {
  const present = details.filter(Boolean);
  return present.length === 0 ? name : `${name} (${present.join(', ')})`;
}
