import { scientific } from '../contract/numbers.ts';
import type { RunConfig } from './run-config.ts';

/** Texts for an advantage estimator of native/src/algorithm/advantage.h. */
interface Estimator {
  /** In the names of algorithms: `StarPO-S (PPO)`. */
  algorithm: string;
  /** Choice in the form. */
  title: string;
  /** Sentence for the methods paragraph of an export. `whitened` is empty, or a phrase that starts with a comma. */
  method: (config: RunConfig, whitened: string) => string;
}

const estimators: Readonly<Record<string, Estimator>> = {
  grpo: {
    algorithm: 'GRPO',
    title: 'GRPO',
    method: (_, whitened) =>
      `Advantages are an episode's reward minus the group mean, divided by the group standard deviation (GRPO, arXiv:2402.03300)${whitened}.`,
  },
  dr_grpo: {
    algorithm: 'Dr. GRPO',
    title: 'Dr. GRPO',
    method: (_, whitened) =>
      `Advantages are an episode's reward minus the group mean (Dr. GRPO, arXiv:2503.20783)${whitened}.`,
  },
  rloo: {
    algorithm: 'RLOO',
    title: 'RLOO',
    method: (_, whitened) =>
      `Advantages are an episode's reward minus the mean of the other episodes in its group (RLOO, arXiv:2402.14740)${whitened}.`,
  },
  gae: {
    algorithm: 'PPO',
    title: 'GAE, with a critic',
    method: ({ advantage, critic }, whitened) => {
      const kind = critic.model === 'head' ? 'a value head on the policy' : 'a critic of the same size as the policy';
      const warmup = critic.warmup > 0 ? `, trained alone for the first ${critic.warmup} iterations` : '';
      return `Advantages were computed with generalized advantage estimation (arXiv:1506.02438; γ = ${advantage.gamma}, λ = ${advantage.lambda})${whitened}, with ${kind} (learning rate ${scientific(critic.learning_rate)})${warmup}.`;
    },
  },
};

/** Returns the display name of an algorithm: `StarPO (GRPO)`, or `StarPO-S (PPO)` if a filter drops groups. Unknown estimators keep their name. */
export const algorithmName = (estimator: string, filtered: boolean): string =>
  `${filtered ? 'StarPO-S' : 'StarPO'} (${estimators[estimator]?.algorithm ?? estimator})`;

/** Titles of the choices of `advantage.estimator`. */
export const estimatorTitles = Object.fromEntries(Object.entries(estimators).map(([name, { title }]) => [name, title]));

/** Describes how a run computes advantages, as one sentence. */
export function advantageText(config: RunConfig): string {
  const { estimator, whiten } = config.advantage;
  const whitened = whiten ? ', whitened over the trained tokens' : '';
  return estimators[estimator]?.method(config, whitened) ?? `Advantages were estimated by ${estimator}${whitened}.`;
}
