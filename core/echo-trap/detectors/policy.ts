import {
  againstStart,
  baselineOf,
  type Detector,
  high,
  low,
  type Memory,
  peakOf,
  smooth,
  type View,
} from '../detector.ts';
import { median, type Watched } from '../track.ts';

/** Detectors on entropy, gradients and response format. */

const entropy = 'rollout/entropy';

export const entropyFalls: Detector = {
  name: 'entropy_falls',
  title: 'Entropy falls',
  meaning: 'The policy is nearly deterministic and explores little.',
  stage: 'early',
  regime: 'template',
  family: 'entropy',
  read: againstStart(entropy, ({ entropy_low }) => entropy_low),
};

/** Sampling becomes more and more random, until responses are malformed. */
export const entropyRises: Detector = {
  name: 'entropy_rises',
  title: 'Entropy rises',
  meaning: 'Responses are becoming random. The learning rate or the entropy bonus is too high.',
  stage: 'early',
  regime: 'chaos',
  family: 'entropy',
  read: againstStart(entropy, ({ entropy_high }) => entropy_high),
};

/** A fast rise after a fall, compared with the run's lowest entropy. A signal in the RAGEN paper. */
export const entropyRebounds: Detector = {
  name: 'entropy_rebounds',
  title: 'Entropy rebounds',
  meaning: 'Entropy had fallen and rises again: the learned behavior no longer earns reward everywhere.',
  stage: 'early',
  regime: 'chaos',
  family: 'entropy',
  read(view, memory) {
    const value = smooth(view, entropy);
    const first = baselineOf(view, memory, entropy);
    const settled = smooth(view, entropy, 2 * view.thresholds.window);
    if (Number.isNaN(settled) || !(first > 0)) return null;
    const lowest = -peakOf(memory, 'lowest', -settled);
    if (lowest > 0.6 * first) return null;
    return high(view, entropy, value, lowest, view.thresholds.entropy_rebound * lowest);
  },
};

const names: readonly Watched[] = ['actor/grad_norm_max', 'actor/grad_norm'];

/** A spike must also be this many standard deviations above the median, so that noisy gradients raise no alert. */
const minimumDeviations = 6;
/** Estimates the standard deviation from the median absolute deviation. */
const deviationOf = (values: readonly number[], middle: number) =>
  1.4826 * median(values.map((value) => Math.abs(value - middle)));

/** The paper's point of no return. Compared with a running median, which a spike does not move. */
export const gradientSpikes: Detector = {
  name: 'gradient_spikes',
  title: 'Gradient spike',
  meaning: 'One gradient was many times larger than usual and may have damaged the policy.',
  stage: 'late',
  regime: null,
  family: 'gradient',
  allOrNothing: true,
  onAfter: () => 1,
  offAfter: ({ gradient_memory }) => gradient_memory,
  read({ track, index, thresholds }) {
    const series = names.find((name) => track.recent(name, index, 1).length > 0);
    if (!series) return null;
    const before = track.recent(series, index - 1, 3 * thresholds.baseline);
    const value = track.at(series, index);
    if (before.length < thresholds.baseline || Number.isNaN(value)) return null;
    const baseline = median(before);
    const threshold = thresholds.gradient_spike * baseline;
    const hot = value > threshold && value > baseline + minimumDeviations * deviationOf(before, baseline);
    return { series, value, baseline, threshold, hot, cool: !hot };
  },
};

/** The gradient norm often grows for a while before a spike. */
export const gradientGrows: Detector = {
  name: 'gradient_grows',
  title: 'Gradient norm grows',
  meaning:
    'Gradients stay much larger than at the start: the learning rate is too high for the current policy.',
  stage: 'early',
  regime: null,
  family: 'gradient',
  read: againstStart('actor/grad_norm', ({ gradient_growth }) => gradient_growth, 2),
};

/** Step sizes below this fraction of `steady_steps` belong to another model, not to a run with a reduced learning rate. */
const otherScale = 0.05;

/** A setting of the run, not an observation. For models of another scale the threshold is unknown, and the setting counts half. */
export const stepsLong: Detector = {
  name: 'steps_long',
  title: 'Step size (learning rate × epochs)',
  meaning:
    'All else equal, larger steps (learning rate × epochs) make collapse more likely. For learning rates far below our test runs the threshold is a guess, so it counts half.',
  stage: 'setting',
  regime: null,
  family: 'gradient',
  later: true,
  read({ track, index, facts, thresholds }) {
    // Missing if the filter kept no group.
    const [rate] = track.recent('actor/learning_rate', index, 1);
    if (rate === undefined) return null;
    const { steady_steps, long_steps } = thresholds;
    const value = facts.epochs * rate;
    // Uses the configured rate, because a schedule starts and ends with lower ones.
    const isKnown = facts.epochs * (facts.learningRate ?? rate) >= otherScale * steady_steps;
    const [baseline, threshold] = isKnown ? [steady_steps, long_steps] : [0, 2 * value];
    return { series: '', value, baseline, threshold, hot: false, cool: true };
  },
};

/** Frequent PPO clipping means that updates are too large. The baseline is 0 for every run. */
export const updatesClip: Detector = {
  name: 'updates_clip',
  title: 'Clipping often',
  meaning: 'Many tokens hit the PPO clip range in every update: each update moves the policy too far.',
  stage: 'early',
  regime: null,
  family: 'gradient',
  later: true,
  read(view) {
    const series = 'actor/clip_fraction_high';
    const value = smooth(view, series, 2 * view.thresholds.window);
    if (Number.isNaN(value)) return null;
    return high(view, series, value, 0, view.thresholds.clipped);
  },
};

export const notFinite: Detector = {
  name: 'not_finite',
  title: 'NaN or infinite value',
  meaning: 'A loss, gradient or reward was NaN or infinite. Later iterations are useless.',
  stage: 'late',
  regime: null,
  family: 'gradient',
  unweighted: true,
  onAfter: () => 1,
  offAfter: ({ gradient_memory }) => gradient_memory,
  read({ track, index }: View, memory: Memory) {
    const broken = track.isBroken(index);
    memory.count = ((memory.count as number | undefined) ?? 0) + Number(broken);
    if (memory.count === 0) return null;
    return {
      // It may be any metric, so the value is the number of occurrences.
      series: '',
      value: memory.count,
      baseline: 0,
      threshold: 1,
      hot: broken,
      cool: !broken,
    };
  },
};

export const formatFalls: Detector = {
  name: 'format_falls',
  title: 'Malformed responses',
  meaning: 'A growing share of responses has no valid reasoning and answer.',
  stage: 'early',
  regime: 'chaos',
  family: 'format',
  read(view, memory) {
    const series = 'rollout/format_valid_rate';
    const value = smooth(view, series);
    if (Number.isNaN(value)) return null;
    const peak = peakOf(memory, 'peak', smooth(view, series, 2 * view.thresholds.window));
    return low(view, series, value, peak, peak - view.thresholds.format_drop);
  },
};

export const responsesGrow: Detector = {
  name: 'responses_grow',
  title: 'Responses grow longer',
  meaning: 'Responses are much longer than at the start and often hit the token limit.',
  stage: 'early',
  regime: 'chaos',
  family: 'format',
  read: againstStart('rollout/response_tokens', ({ length_change }) => length_change),
};
