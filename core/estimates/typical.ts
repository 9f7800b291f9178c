import type { Pace } from '../environments/environment.ts';
import { frozenLake } from '../environments/frozen-lake.ts';
import { findEnvironment } from '../environments/registry.ts';
import type { EnvironmentConfig, RunConfig } from '../run-config/schema.ts';

/**
 * What an iteration takes by figures that come with the app (each environment's own, core/environments). They are rough; what they are good for is how the time changes with a
 * setting, and a first guess on a machine that has trained nothing yet.
 */

/** A full critic has its own forward and backward pass, and computes values before the update. */
const criticTime = { none: 0, full: 2.2, head: 0.5 };
/** A reference policy goes forward once. */
const referenceTime = 0.35;

/** Threads beyond these add nothing to a policy of a million parameters. */
const mostThreads = 8;

/** How much faster than one core; `cores` of the machine. */
export function speedup(threads: number, cores: number): number {
  const used = Math.min(threads > 0 ? threads : cores, cores, mostThreads);
  return Math.max(1, used) ** 0.8;
}

/** Seconds of one training iteration on one core, evaluations left out. */
export function iterationSeconds({
  environments,
  rollout,
  filter,
  policy_loss,
  critic,
  kl,
  task,
}: RunConfig): number {
  if (task === 'warm_start') return 0;
  const episodes = rollout.groups * rollout.group_size;
  const kept = filter.strategy === 'none' ? 1 : Math.max(filter.keep, 1 / rollout.groups);
  const passes =
    policy_loss.epochs * (1 + criticTime[critic.model]) + (kl.coefficient > 0 ? referenceTime : 0);
  return mean(environments, ({ play, learn }) => episodes * (play + learn * kept * passes));
}

/** Seconds of all evaluations of a run on one core. */
export function evaluationSeconds({ environments, evaluation, iterations }: RunConfig): number {
  const times = 2 + (evaluation.every > 0 ? Math.max(0, Math.ceil(iterations / evaluation.every) - 1) : 0);
  const validated = environments.filter(({ validate }) => validate);
  const once = validated.reduce((sum, environment) => sum + evaluation.levels * paceOf(environment).play, 0);
  return times * once;
}

/** Levels of other sizes and more turns take longer, about as their share of the preset's. */
function paceOf({ type, max_turns, config }: EnvironmentConfig): Pace {
  const { pace = frozenLake.pace!, preset, levelSize = () => 1 } = findEnvironment(type) ?? frozenLake;
  const size = levelSize(config) / levelSize(preset.config) || 1;
  const longer = (0.5 + 0.5 * size) * Math.sqrt(max_turns / preset.max_turns);
  return { play: pace.play * longer, learn: pace.learn * longer };
}

/** Over the environments that are trained, by their shares. */
function mean(environments: readonly EnvironmentConfig[], of: (pace: Pace) => number): number {
  const shares = environments.reduce((sum, { share }) => sum + share, 0) || 1;
  return environments.reduce(
    (sum, environment) => sum + (environment.share / shares) * of(paceOf(environment)),
    0,
  );
}
