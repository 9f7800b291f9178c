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

/** What the policy's words and its updates show. */

const entropy = 'rollout/entropy';

export const entropyFalls: Detector = {
  name: 'entropy_falls',
  title: 'Entropy falls',
  meaning: 'The policy is sure of nearly every word: it tries out little that is new.',
  stage: 'early',
  regime: 'template',
  family: 'entropy',
  read: againstStart(entropy, ({ entropy_low }) => entropy_low),
};

/** The other death: words are drawn more and more by chance, until replies lose their form. */
export const entropyRises: Detector = {
  name: 'entropy_rises',
  title: 'Entropy rises',
  meaning:
    'Replies are drawn more and more by chance: steps of the update are too long, or the bonus on entropy is too high.',
  stage: 'early',
  regime: 'chaos',
  family: 'entropy',
  read: againstStart(entropy, ({ entropy_high }) => entropy_high),
};

/** The paper: entropy that turns and rises fast is a sign too. Against its own lowest, for a run whose entropy had fallen. */
export const entropyRebounds: Detector = {
  name: 'entropy_rebounds',
  title: 'Entropy turns and rises',
  meaning:
    'A policy that had become sure is losing its way again: the line that it holds to no longer pays everywhere.',
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

/** A run whose gradients always leap is not warned of by one more leap: it must also be so many deviations above the rest. */
const scatters = 6;
/** The standard deviation by the median distance from the median. */
const scatterOf = (values: readonly number[], middle: number) =>
  1.4826 * median(values.map((value) => Math.abs(value - middle)));

/** The paper's point of no return. Against a running median, which a spike doesn't move. */
export const gradientSpikes: Detector = {
  name: 'gradient_spikes',
  title: 'Gradient spikes',
  meaning: 'One update was many times larger than those before it: what the policy had learned may be torn.',
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
    const hot = value > threshold && value > baseline + scatters * scatterOf(before, baseline);
    return { series, value, baseline, threshold, hot, cool: !hot };
  },
};

/** Before a spike the norm often grows for a while: every step is taken on steeper ground. */
export const gradientGrows: Detector = {
  name: 'gradient_grows',
  title: 'Gradients grow',
  meaning:
    'Updates are much larger than at the start, and stay so: steps have become too long for where the policy is.',
  stage: 'early',
  regime: null,
  family: 'gradient',
  read: againstStart('actor/grad_norm', ({ gradient_growth }) => gradient_growth, 2),
};

/** Steps shorter than this part of what is steady are those of another model, not of a run that was made gentler. */
const otherScale = 0.05;

/** Not a sign but what the run was given: at the same signs, a run of long steps is nearer to a fall. Of a model of another scale nobody knows what is long, and it counts half. */
export const stepsLong: Detector = {
  name: 'steps_long',
  title: 'Length of the steps',
  meaning:
    'The learning rate, times how often an iteration goes over its episodes: at the same signs, a run of longer steps is nearer to a fall. Of rates far below those of any labelled run nobody knows what is long; they count half.',
  stage: 'setting',
  regime: null,
  family: 'gradient',
  later: true,
  read({ track, index, facts, thresholds }) {
    // An iteration whose filter keeps nothing tells none.
    const [rate] = track.recent('actor/learning_rate', index, 1);
    if (rate === undefined) return null;
    const { steady_steps, long_steps } = thresholds;
    const value = facts.epochs * rate;
    // By what the run was given, since a schedule begins and ends with shorter ones.
    const isKnown = facts.epochs * (facts.learningRate ?? rate) >= otherScale * steady_steps;
    const [baseline, threshold] = isKnown ? [steady_steps, long_steps] : [0, 2 * value];
    return { series: '', value, baseline, threshold, hot: false, cool: true };
  },
};

/** The clip of PPO is a net for steps that are too long; a share of tokens that meets it again and again says that they are. Its normal is none at all, whatever the run began with. */
export const updatesClip: Detector = {
  name: 'updates_clip',
  title: 'Updates meet the clip',
  meaning: 'In update after update the clip holds tokens back: each moves the policy farther than it should.',
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
  title: 'A value is infinite or not a number',
  meaning:
    'A loss, a gradient or a reward was infinite or not a number: what comes after it is worth nothing.',
  stage: 'late',
  regime: null,
  family: 'gradient',
  uncounted: true,
  onAfter: () => 1,
  offAfter: ({ gradient_memory }) => gradient_memory,
  read({ track, index }: View, memory: Memory) {
    const broken = track.isBroken(index);
    memory.count = ((memory.count as number | undefined) ?? 0) + Number(broken);
    if (memory.count === 0) return null;
    return {
      // Any metric may have been it; the value counts how often.
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
  title: 'Replies lose their form',
  meaning: 'More and more replies have no valid thought and answer: what was trained first comes apart.',
  stage: 'early',
  regime: 'chaos',
  family: 'form',
  read(view, memory) {
    const series = 'rollout/format_valid_rate';
    const value = smooth(view, series);
    if (Number.isNaN(value)) return null;
    const peak = peakOf(memory, 'peak', smooth(view, series, 2 * view.thresholds.window));
    return low(view, series, value, peak, peak - view.thresholds.format_drop);
  },
};

export const repliesGrow: Detector = {
  name: 'replies_grow',
  title: 'Replies grow',
  meaning: 'Replies become much longer than they were, often a ramble that ends at the limit of tokens.',
  stage: 'early',
  regime: 'chaos',
  family: 'form',
  read: againstStart('rollout/response_tokens', ({ length_change }) => length_change),
};
