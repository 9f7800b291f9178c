/** A direct implementation of the policy loss in docs/algorithms.md, written from the formulas and without the trainer's code. Slow. */

import type { RunConfig } from '../../core/run-config/run-config.ts';

export interface Sample {
  logprobs: number[];
  old_logprobs: number[];
  rollout_logprobs: number[];
  reference_logprobs: number[];
  advantages: number[];
  entropies: number[];
  reasoning: boolean[];
  imitation: number[];
  turn_lengths: number[];
  episode: number;
}
export type LossSettings = Omit<RunConfig['policy_loss'], 'mini_batch' | 'epochs'>;
export type Correction = RunConfig['correction'];
export interface LossRequest {
  policy_loss: LossSettings;
  correction: Correction;
  kl: { coefficient: number; estimator: 'k2' | 'k3'; placement: 'loss' };
  sequences: Sample[];
  longest: number;
}

const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
const mean = (numbers: number[]) => sum(numbers) / numbers.length;
const between = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high);

const turnOf = (sample: Sample) => sample.turn_lengths.flatMap((length, turn) => Array<number>(length).fill(turn));
const minus = (a: number[], b: number[]) => a.map((each, i) => each - b[i]!);
const logRatios = (sample: Sample) => minus(sample.logprobs, sample.old_logprobs);

/** Mean of a value over tokens, by the rule of `average`. `counted`: the tokens of each sample that count. */
function averaged(request: LossRequest, average: string, counted: boolean[][], values: number[][]): number {
  const samples = request.sequences;
  const episodes = [...new Set(samples.map(({ episode }) => episode))]
    .map((episode) => samples.flatMap((each, i) => (each.episode === episode ? [i] : [])))
    .map((own) => own.flatMap((i) => values[i]!.filter((_, t) => counted[i]![t])))
    .filter((own) => own.length > 0);
  if (episodes.length === 0) return 0;
  switch (average) {
    case 'trajectory':
      return mean(episodes.map(mean));
    case 'token':
      return mean(episodes.flat());
    case 'trajectory_sum':
      return mean(episodes.map(sum));
    default:
      return mean(episodes.map(sum)) / request.longest;
  }
}

/** Mean negative log-probability of a mini-batch's tokens, weighted by `imitation`. */
function crossEntropy({ sequences }: LossRequest): number {
  const weights = sequences.flatMap(({ imitation }) => imitation);
  const logprobs = sequences.flatMap((sample) => sample.logprobs);
  return sum(weights) === 0 ? 0 : -sum(weights.map((weight, t) => weight * logprobs[t]!)) / sum(weights);
}

function levelLogRatio(request: LossRequest, sample: Sample, t: number): number {
  const own = logRatios(sample);
  switch (request.policy_loss.ratio_level) {
    case 'token':
      return own[t]!;
    case 'turn':
      return mean(own.filter((_, u) => turnOf(sample)[u] === turnOf(sample)[t]));
    case 'sequence':
      return mean(own);
    default:
      return sum(request.sequences.filter(({ episode }) => episode === sample.episode).flatMap(logRatios));
  }
}

export function correctionWeight(sample: Sample, t: number, correction: Correction): number {
  const rho = minus(sample.old_logprobs, sample.rollout_logprobs);
  const divergences = rho.map((d) => (correction.divergence === 'k2' ? d ** 2 / 2 : Math.exp(d) - 1 - d));
  const region = {
    none: Number.NEGATIVE_INFINITY,
    token: divergences[t]!,
    sequence_max: Math.max(...divergences),
    sequence_mean: mean(divergences),
    sequence_sum: sum(divergences),
  }[correction.trust_region];
  if (region > correction.bound) return 0;
  const ratio = Math.exp({ token: rho[t]!, sequence: sum(rho), sequence_mean: mean(rho) }[correction.level]);
  const { low, high } = correction;
  switch (correction.weights) {
    case 'none':
      return 1;
    case 'truncate':
      return between(ratio, low, high);
    default:
      return ratio < low || ratio > high ? 0 : ratio;
  }
}

/**
 * Returns the loss at the log-probabilities of `now`. What has no gradient is computed at `frozen`: of a ratio of several tokens, all but the
 * token's own part.
 */
export function restateLoss(now: LossRequest, frozen: LossRequest): number {
  const { policy_loss: settings, correction, kl } = now;
  const policy = now.sequences.map((sample, i) => {
    const still = frozen.sequences[i]!;
    const before = now.sequences.slice(0, i).filter(({ episode }) => episode === sample.episode);
    const earlierTurns = sum(before.map(({ turn_lengths }) => turn_lengths.length));
    return sample.logprobs.map((logprob, t) => {
      const A = sample.advantages[t]!;
      const factor = settings.clip_turn_factor ** (earlierTurns + turnOf(sample)[t]!);
      const [low, high] = [settings.clip_low * factor, settings.clip_high * factor];
      const frozenRatio = Math.exp(levelLogRatio(frozen, still, t));
      const ratio = frozenRatio * Math.exp(logprob - still.logprobs[t]!);
      const moved = Math.exp(still.logprobs[t]!) - Math.exp(still.old_logprobs[t]!);
      const tau = A > 0 ? settings.tau_positive : settings.tau_negative;
      const clipped = Math.max(-A * ratio, -A * between(ratio, 1 - low, 1 + high));
      const term = {
        clip: () => (settings.dual_clip > 0 && A < 0 ? Math.min(clipped, -A * settings.dual_clip) : clipped),
        cispo: () => -between(frozenRatio, 1 - low, 1 + high) * A * logprob,
        sapo: () => (-A * 4) / tau / (1 + Math.exp(-tau * (ratio - 1))),
        dppo: () => ((A > 0 && moved > high) || (A < 0 && moved < -low) ? 0 : -A * ratio),
      }[settings.objective]();
      const d = kl.coefficient > 0 ? logprob - sample.reference_logprobs[t]! : 0;
      const divergence = kl.estimator === 'k2' ? d ** 2 / 2 : Math.exp(-d) - 1 + d;
      return (
        correctionWeight(sample, t, correction) * term +
        settings.log_ratio_penalty * logRatios(sample)[t]! ** 2 +
        kl.coefficient * divergence
      );
    });
  });
  const lost = now.sequences.map((sample, i) => {
    const fell = logRatios(frozen.sequences[i]!).map((each, t) => (sample.advantages[t]! >= 0 ? -each : 0));
    const turns = turnOf(sample);
    return sample.logprobs.map((_, t) => {
      const gate = sum(fell.filter((_, u) => settings.likelihood_gate === 'response' || turns[u] === turns[t]));
      return gate > 0 && fell[t]! > 0 ? Math.max(0, -logRatios(sample)[t]!) : 0;
    });
  });
  const everywhere = now.sequences.map(({ logprobs }) => logprobs.map(() => true));
  const bonus = settings.entropy_tokens === 'all' ? everywhere : now.sequences.map(({ reasoning }) => reasoning);
  return (
    averaged(now, settings.average, everywhere, policy) +
    settings.likelihood_coefficient * averaged(now, 'token', everywhere, lost) +
    settings.cross_entropy_coefficient * crossEntropy(now) -
    settings.entropy_coefficient *
      averaged(
        now,
        settings.average,
        bonus,
        now.sequences.map(({ entropies }) => entropies),
      )
  );
}
