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

function criticText({ model, learning_rate, warmup }: RunConfig['critic']): string {
  const kind = model === 'head' ? 'a value head on the policy' : 'a critic of the same size as the policy';
  const alone =
    warmup > 0 ? `, trained alone for the first ${warmup === 1 ? 'iteration' : `${warmup} iterations`}` : '';
  return `${kind} (learning rate ${scientific(learning_rate)})${alone}`;
}

const scaled = ({ scale_by_std }: RunConfig['advantage']) =>
  scale_by_std ? ', divided by the standard deviation' : '';

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
  loop: {
    algorithm: 'LOOP',
    title: 'LOOP (leave-one-out)',
    method: (_, whitened) =>
      `Advantages are an episode's reward minus the mean of the other episodes in its group (LOOP, arXiv:2502.01600)${whitened}.`,
  },
  maxrl: {
    algorithm: 'MaxRL',
    title: 'MaxRL (divided by the mean)',
    method: (_, whitened) =>
      `Advantages are an episode's reward minus the group mean, divided by the group mean (MaxRL, arXiv:2602.02710)${whitened}.`,
  },
  gigpo: {
    algorithm: 'GiGPO',
    title: 'GiGPO, compares equal states',
    method: ({ advantage }, whitened) =>
      `Advantages are the sum of an episode's reward relative to its group, and ${advantage.step_weight} times the return from a turn onward relative to other turns from the same state (GiGPO, arXiv:2505.10978; discount per turn ${advantage.turn_gamma}${scaled(advantage)})${whitened}.`,
  },
  hgpo: {
    algorithm: 'HGPO',
    title: 'HGPO, compares equal histories',
    method: ({ advantage }, whitened) =>
      `Advantages compare the return from a turn onward with other turns that share ${advantage.history === 0 ? 'the last state' : `up to the last ${advantage.history + 1} states`}, weighted by history length${advantage.episode_term ? ', and episode scores with those of the group' : ''} (HGPO, arXiv:2602.22817; α = ${advantage.history_exponent}, discount per turn ${advantage.turn_gamma}${scaled(advantage)})${whitened}.`,
  },
  reinforce_plus_plus: {
    algorithm: 'REINFORCE++',
    title: 'REINFORCE++',
    method: ({ advantage }, whitened) =>
      `Advantages are the discounted return from each token onward (REINFORCE++, arXiv:2501.03262; γ = ${advantage.gamma})${whitened}.`,
  },
  bi_level_gae: {
    algorithm: 'Bi-level PPO',
    title: 'Bi-level GAE, with a critic',
    method: ({ advantage, critic }, whitened) =>
      `Advantages come from bi-level generalized advantage estimation, first over turns (discount ${advantage.turn_gamma}) and then over the tokens of each turn (γ = ${advantage.gamma}; λ = ${advantage.lambda})${whitened}, with ${criticText(critic)}.`,
  },
  trajectory_baseline: {
    algorithm: 'trajectory baseline',
    title: 'Trajectory baseline, with a critic',
    method: ({ critic }, whitened) =>
      `Advantages are an episode's reward minus the critic's value at its start${whitened}, with ${criticText(critic)}.`,
  },
  turn_baseline: {
    algorithm: 'turn baseline',
    title: 'Turn baseline, with a critic',
    method: ({ advantage, critic }, whitened) =>
      `Advantages come from generalized advantage estimation over turns (discount ${advantage.turn_gamma}, λ = ${advantage.lambda})${whitened}, with ${criticText(critic)}.`,
  },
  gae: {
    algorithm: 'PPO',
    title: 'GAE, with a critic',
    method: ({ advantage, critic }, whitened) =>
      `Advantages come from generalized advantage estimation (arXiv:1506.02438; γ = ${advantage.gamma}, λ = ${advantage.lambda})${whitened}, with ${criticText(critic)}.`,
  },
};

/** Returns the display name of an algorithm: `StarPO (GRPO)`, or `StarPO-S (PPO)` if a filter drops groups. Unknown estimators keep their name. */
export const algorithmName = (estimator: string, filtered: boolean): string =>
  `${filtered ? 'StarPO-S' : 'StarPO'} (${estimators[estimator]?.algorithm ?? estimator})`;

/** Titles of the choices of `advantage.estimator`. */
export const estimatorTitles = Object.fromEntries(Object.entries(estimators).map(([name, { title }]) => [name, title]));

/** Describes how a run computes advantages, as one sentence. */
export function advantageText(config: RunConfig): string {
  const { estimator, whiten, whiten_over } = config.advantage;
  const whitened = whiten ? `, whitened over the ${whiten_over === 'episodes' ? 'episodes' : 'trained tokens'}` : '';
  return estimators[estimator]?.method(config, whitened) ?? `Advantages were estimated by ${estimator}${whitened}.`;
}
