import type { Detector, Memory, View } from '../detector.ts';
import { median, type Watched } from '../track.ts';

const names: readonly Watched[] = ['actor/grad_norm_max', 'actor/grad_norm'];

/** The paper's point of no return. Against a running median, which a spike doesn't move. */
export const gradientSpikes: Detector = {
  name: 'gradient_spikes',
  title: 'Gradient spikes',
  meaning: 'One update was many times larger than those before it: what the policy had learned may be torn.',
  stage: 'late',
  regime: null,
  family: 'gradient',
  onAfter: 1,
  offAfter: ({ gradient_memory }) => gradient_memory,
  read({ track, index, thresholds }) {
    const series = names.find((name) => track.recent(name, index, 1).length > 0);
    if (!series) return null;
    const before = track.recent(series, index - 1, 3 * thresholds.baseline);
    const value = track.at(series, index);
    if (before.length < thresholds.baseline || Number.isNaN(value)) return null;
    const baseline = median(before);
    const scatter = 1.4826 * median(before.map((each) => Math.abs(each - baseline)));
    const threshold = Math.max(thresholds.gradient_spike * baseline, baseline + 6 * scatter);
    return { series, value, baseline, threshold, hot: value > threshold, cool: value <= threshold };
  },
};

export const notFinite: Detector = {
  name: 'not_finite',
  title: 'A number that is none',
  meaning:
    'A loss, a gradient or a reward was infinite or not a number: what comes after it is worth nothing.',
  stage: 'late',
  regime: null,
  family: 'gradient',
  onAfter: 1,
  offAfter: ({ gradient_memory }) => gradient_memory,
  read({ track, index }: View, memory: Memory) {
    const broken = track.isBroken(index);
    memory.count = ((memory.count as number | undefined) ?? 0) + Number(broken);
    return {
      series: 'actor/grad_norm',
      value: memory.count,
      baseline: 0,
      threshold: 1,
      hot: broken,
      cool: !broken,
    };
  },
};
