import type { Pace } from '../environments/environment.ts';
import { frozenLake } from '../environments/frozen-lake.ts';
import { findEnvironment } from '../environments/registry.ts';
import type { EnvironmentConfig, RunConfig } from '../run-config/schema.ts';
import { replaysGroups } from '../run-config/trained-groups.ts';

/**
 * Rough training times from built-in figures per environment (core/environments). They show how the time depends on settings, and give a first
 * estimate on a machine without runs.
 */

/** Time of a critic relative to the policy's. A full critic has its own passes, and computes values before the update. */
const criticTime = { none: 0, full: 2.2, head: 0.5 };
/** Time of the reference policy's forward pass, relative to the policy's update. */
const referenceTime = 0.35;

/** More threads do not speed up a policy of a million parameters. */
const maxThreads = 8;

/** Returns the speedup over one core. `cores` is the number of cores of the machine. */
export function speedup(threads: number, cores: number): number {
  const used = Math.min(threads > 0 ? threads : cores, cores, maxThreads);
  return Math.max(1, used) ** 0.8;
}

/** Returns the typical share of groups that are trained on. `min_p` may keep all. */
function keptShare({ strategy, keep, count }: RunConfig['filter'], groups: number): number {
  if (strategy === 'none' || strategy === 'min_p') return 1;
  return strategy === 'top_k' ? Math.min(1, count / groups) : Math.max(keep, 1 / groups);
}

/** Returns how often the update reads a turn on average. The first `contextTurns` turns are one sample; each later turn is read with the turns of its context. */
function readsPerTurn(turns: number, contextTurns: number): number {
  if (contextTurns === 0 || turns <= contextTurns) return 1;
  return (contextTurns + (turns - contextTurns) * contextTurns) / turns;
}

/** Returns the seconds per training iteration on one core, without evaluations. */
export function iterationSeconds(config: RunConfig): number {
  const { environments, rollout, filter, replay, policy_loss, critic, kl, task } = config;
  if (task === 'warm_start') return 0;
  const episodes = rollout.groups * rollout.group_size;
  const kept = keptShare(filter, rollout.groups) / (replaysGroups(replay) ? 1 - replay.share : 1);
  const passes = policy_loss.epochs * (1 + criticTime[critic.model]) + (kl.coefficient > 0 ? referenceTime : 0);
  return mean(environments, ({ play, learn }, { max_turns }) => {
    const reads = readsPerTurn(max_turns / 2, rollout.context_turns);
    return episodes * (play + learn * reads * kept * passes);
  });
}

/** Returns the seconds for all evaluations of a run on one core. */
export function evaluationSeconds({ environments, evaluation, iterations }: RunConfig): number {
  const times = 2 + (evaluation.every > 0 ? Math.max(0, Math.ceil(iterations / evaluation.every) - 1) : 0);
  const validated = environments.filter(({ validate }) => validate);
  const once = validated.reduce((sum, environment) => sum + evaluation.levels * paceOf(environment).play, 0);
  return times * once;
}

/** Returns the time per episode. It scales with the level size and the turns relative to the preset's. */
function paceOf({ type, max_turns, config }: EnvironmentConfig): Pace {
  const { pace = frozenLake.pace!, preset, levelSize = () => 1 } = findEnvironment(type) ?? frozenLake;
  const size = levelSize(config) / levelSize(preset.config) || 1;
  const scale = (0.5 + 0.5 * size) * Math.sqrt(max_turns / preset.max_turns);
  return { play: pace.play * scale, learn: pace.learn * scale };
}

/** Returns the mean over the trained environments, weighted by their shares. */
function mean(
  environments: readonly EnvironmentConfig[],
  value: (pace: Pace, environment: EnvironmentConfig) => number,
): number {
  const shares = environments.reduce((sum, { share }) => sum + share, 0) || 1;
  return environments.reduce((sum, each) => sum + (each.share / shares) * value(paceOf(each), each), 0);
}
