import {
  againstStart,
  baselineOf,
  detector,
  high,
  iterations,
  low,
  type Memory,
  peakOf,
  smooth,
  threshold,
  type View,
} from '../detector.ts';
import { mean, median, type Watched } from '../track.ts';

/** Detectors on entropy, gradients and response format. */

const entropy = 'rollout/entropy';

/** The rise of an entropy that is too high, as a multiple of its baseline. */
export const entropyRise = { entropy_high: threshold(1.6, 1.05, 20) };

export const entropyFalls = detector({
  name: 'entropy_falls',
  title: 'Entropy falls',
  meaning: 'The policy is nearly deterministic and explores little.',
  regime: 'template',
  family: 'entropy',
  weight: 0,
  thresholds: { entropy_low: threshold(0.4, 0.01, 0.95) },
  read: (view, memory, own) => againstStart(view, memory, entropy, own.entropy_low),
});

/** Sampling becomes more and more random, until responses are malformed. */
export const entropyRises = detector({
  name: 'entropy_rises',
  title: 'Entropy rises',
  meaning: 'Responses are becoming random. The learning rate or the entropy bonus may be too high.',
  regime: 'chaos',
  family: 'entropy',
  weight: 0.081,
  thresholds: entropyRise,
  read: (view, memory, own) => againstStart(view, memory, entropy, own.entropy_high),
});

/** A fast rise after a fall, compared with the run's lowest entropy. A signal in the RAGEN paper. */
export const entropyRebounds = detector({
  name: 'entropy_rebounds',
  title: 'Entropy rebounds',
  meaning: 'Entropy had fallen and rises again: the learned behavior no longer earns reward on some levels.',
  regime: 'chaos',
  family: 'entropy',
  reference: 'lowest',
  weight: 0,
  thresholds: { entropy_rebound: threshold(2, 1.05, 20) },
  read(view, memory, own) {
    const value = smooth(view, entropy);
    const first = baselineOf(view, memory, entropy);
    const settled = smooth(view, entropy, 2 * view.parameters.window);
    if (Number.isNaN(settled) || !(first > 0)) return null;
    const lowest = -peakOf(memory, 'lowest', -settled);
    if (lowest > 0.6 * first) return null;
    return high(view, entropy, value, lowest, own.entropy_rebound * lowest);
  },
});

const names: readonly Watched[] = ['actor/grad_norm_max', 'actor/grad_norm'];

/** Iterations for which a damaging update stays on as a signal. */
const damageDuration = { gradient_memory: iterations(25, 1, 200) };

/** A spike must also be this many standard deviations above the median, so that noisy gradients raise no alert. */
const minimumDeviations = 6;
/** Estimates the standard deviation from the median absolute deviation. */
const deviationOf = (values: readonly number[], middle: number) =>
  1.4826 * median(values.map((value) => Math.abs(value - middle)));

/** The paper's point of no return. The gradient norm is compared with a running median, which a spike does not move. */
export const gradientSpikes = detector({
  name: 'gradient_spikes',
  title: 'Gradient spike',
  meaning: 'One gradient was many times larger than usual and may have damaged the policy.',
  stage: 'late',
  family: 'gradient',
  weight: 0.033,
  allOrNothing: true,
  thresholds: { gradient_spike: threshold(4, 1.2, 100), ...damageDuration },
  onAfter: () => 1,
  offAfter: ({ gradient_memory }) => gradient_memory,
  read({ track, index, parameters }, _memory, own) {
    const series = names.find((name) => track.recent(name, index, 1).length > 0);
    if (!series) return null;
    const before = track.recent(series, index - 1, 3 * parameters.baseline);
    const value = track.at(series, index);
    if (before.length < parameters.baseline || Number.isNaN(value)) return null;
    const baseline = median(before);
    const limit = own.gradient_spike * baseline;
    const hot = value > limit && value > baseline + minimumDeviations * deviationOf(before, baseline);
    return { series, value, baseline, threshold: limit, worse: 'above', hot, cool: !hot };
  },
});

/** The gradient norm often grows for a while before a spike. */
export const gradientGrows = detector({
  name: 'gradient_grows',
  title: 'Gradient norm grows',
  meaning: 'Gradients stay much larger than at the start: the learning rate may be too high for the current policy.',
  family: 'gradient',
  weight: 0,
  thresholds: { gradient_growth: threshold(2, 1.1, 100) },
  read: (view, memory, own) => againstStart(view, memory, 'actor/grad_norm', own.gradient_growth, 2),
});

/** Step sizes below this fraction of `steady_steps` belong to another model, not to a run with a reduced learning rate. */
const otherScale = 0.05;

/** A setting of the run, not an observation. For models of another scale the threshold is unknown, and the setting counts half. */
export const stepsLong = detector({
  name: 'steps_long',
  title: 'Step size (learning rate × epochs)',
  meaning:
    'All else equal, larger steps (learning rate × epochs) make collapse more likely. For learning rates far below our test runs the threshold is a guess, so this signal has half its weight.',
  stage: 'setting',
  family: 'gradient',
  weight: 0.48,
  notInPaper: true,
  thresholds: { steady_steps: threshold(1e-4, 0, 1), long_steps: threshold(8e-4, 0, 1) },
  read({ track, index, facts }, _memory, { steady_steps, long_steps }) {
    // Missing if the filter kept no group.
    const [rate] = track.recent('actor/learning_rate', index, 1);
    if (rate === undefined) return null;
    const value = facts.epochs * rate;
    // Uses the configured rate, because a schedule starts and ends with lower ones.
    const isKnown = facts.epochs * (facts.learningRate ?? rate) >= otherScale * steady_steps;
    const [baseline, limit] = isKnown ? [steady_steps, long_steps] : [0, 2 * value];
    return { series: '', value, baseline, threshold: limit, worse: 'above', hot: false, cool: true };
  },
});

/** Frequent PPO clipping means that updates are too large. The baseline is 0 for every run. */
export const updatesClip = detector({
  name: 'updates_clip',
  title: 'Updates are clipped often',
  meaning: 'Many tokens reach the upper PPO clip range: updates move the policy too far.',
  family: 'gradient',
  weight: 0,
  notInPaper: true,
  thresholds: { clipped: threshold(0.01, 0.001, 0.9) },
  read(view, _memory, own) {
    const series = 'actor/clip_fraction_high';
    const value = smooth(view, series, 2 * view.parameters.window);
    if (Number.isNaN(value)) return null;
    return high(view, series, value, 0, own.clipped);
  },
});

/** Number of updates after the start that are observed. */
const firstUpdates = 5;
const observed: readonly Watched[] = ['actor/approximate_kl', 'rollout/success_rate', 'rollout/format_valid_rate'];
/** Success has dropped below this fraction of its first value, or format by this much. */
const dropped = { success: 0.75, format: 0.05 };

/**
 * The learning rate is several times too high. The signal turns on if one of the first updates changed the policy more than in any tuning run that kept its success, and
 * success or format has dropped.
 */
export const lostAtOnce = detector({
  name: 'lost_at_once',
  title: 'First updates too large',
  meaning:
    'One of the first updates changed the policy more than in any test run that kept its success, and success or format has dropped. The learning rate is too high.',
  regime: 'chaos',
  family: 'gradient',
  decisive: true,
  thresholds: { first_kl: threshold(0.33, 0.01, 100), ...damageDuration },
  onAfter: () => 1,
  offAfter: ({ gradient_memory }) => gradient_memory,
  read({ track, index }, memory, own) {
    const series = 'actor/approximate_kl';
    const kl = track.at(series, index);
    // The KL is missing if the filter kept no group or the critic warms up.
    if (Number.isNaN(kl)) return null;
    const seen = (name: Watched) => (memory[name] ?? []) as number[];
    const isFirst = seen(series).length < firstUpdates;
    for (const name of isFirst ? observed : [])
      if (!Number.isNaN(track.at(name, index))) memory[name] = [...seen(name), track.at(name, index)];
    const change = (name: Watched) => {
      const [first = Number.NaN, ...later] = seen(name);
      return { first, later: mean(later) };
    };
    const [success, format] = [change('rollout/success_rate'), change('rollout/format_valid_rate')];
    const hasDropped = success.later < dropped.success * success.first || format.later < format.first - dropped.format;
    const value = Math.max(...seen(series));
    const hot = isFirst && value > own.first_kl && hasDropped;
    return { series, value, baseline: 0, threshold: own.first_kl, worse: 'above', hot, cool: !hot };
  },
});

export const notFinite = detector({
  name: 'not_finite',
  title: 'NaN or infinite value',
  meaning:
    'A loss, gradient norm or entropy is NaN or infinite, so the policy is broken. Later iterations are useless.',
  stage: 'late',
  family: 'gradient',
  thresholds: damageDuration,
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
      worse: 'above',
      hot: broken,
      cool: !broken,
    };
  },
});

export const formatFalls = detector({
  name: 'format_falls',
  title: 'Malformed responses',
  meaning: 'A growing share of responses has no valid reasoning and answer.',
  regime: 'chaos',
  family: 'format',
  reference: 'best',
  weight: 0.22,
  thresholds: { format_drop: threshold(0.08, 0.005, 0.9) },
  read(view, memory, own) {
    const series = 'rollout/format_valid_rate';
    const value = smooth(view, series);
    if (Number.isNaN(value)) return null;
    const peak = peakOf(memory, 'peak', smooth(view, series, 2 * view.parameters.window));
    return low(view, series, value, peak, peak - own.format_drop);
  },
});

export const responsesGrow = detector({
  name: 'responses_grow',
  title: 'Responses grow longer',
  meaning: 'Episodes have many more sampled tokens than at the start.',
  regime: 'chaos',
  family: 'format',
  weight: 0,
  thresholds: { length_change: threshold(1.8, 1.1, 20) },
  read: (view, memory, own) => againstStart(view, memory, 'rollout/response_tokens', own.length_change),
});
