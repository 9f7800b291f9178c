import { baselineOf, type Detector, high, low, peakOf, smooth, smoothAdjusted } from '../detector.ts';

/** Detectors on rewards and success. */

const rewardStd = 'rollout/reward_std_in_group';

/** The paper's first signal: the in-group reward std U(s0) = Std[R] falls, and the learning signal with it. */
export const rewardStdFalls: Detector = {
  name: 'reward_std_falls',
  title: 'Reward std falls',
  meaning: 'Episodes of the same level get the same reward, so there is little to learn from.',
  stage: 'early',
  regime: 'template',
  family: 'reward_std',
  read(view, memory) {
    const { thresholds, facts } = view;
    const value = smooth(view, rewardStd);
    const first = baselineOf(view, memory, rewardStd);
    if (Number.isNaN(value) || Number.isNaN(first)) return null;
    // Early collapse leaves no baseline; the floor, a fraction of the reward range, still applies.
    const baseline = Math.max(first, peakOf(memory, 'peak', smooth(view, rewardStd, 2 * thresholds.window)));
    const range = facts.rewardRange ?? 2 * baseline;
    const threshold = Math.max(thresholds.reward_std_share * baseline, thresholds.reward_std_floor * range);
    return low(view, rewardStd, value, baseline, threshold);
  },
};

/** Among zero-variance groups, only failed ones are evidence of collapse; the others are solved levels. */
export const groupsFail: Detector = {
  name: 'groups_fail',
  title: 'All-fail groups increase',
  meaning:
    'On more and more levels every episode fails: the policy acts the same everywhere and gets no signal to improve.',
  stage: 'early',
  regime: 'template',
  family: 'reward_std',
  read(view, memory) {
    const series = 'rollout/zero_std_failed';
    const value = smooth(view, series, 2 * view.thresholds.window);
    const baseline = baselineOf(view, memory, series);
    if (Number.isNaN(value) || Number.isNaN(baseline)) return null;
    const start = Math.min(baseline, 0.5);
    const share = Math.min(0.95, start + view.thresholds.failed_groups);
    // A run that starts with mostly failed levels needs a higher threshold.
    return high(view, series, value, start, Math.max(share, Math.min(1, baseline + 0.1)));
  },
};

/** Share of levels that at least one episode solves, compared with its peak. */
export const levelsLost: Detector = {
  name: 'levels_lost',
  title: 'Fewer levels solved',
  meaning: 'On more levels, no episode succeeds at all.',
  stage: 'early',
  regime: null,
  family: 'success',
  later: true,
  read(view, memory) {
    const series = 'rollout/pass_at_n';
    // The difficulty adjustment can exceed 1.
    const value = Math.min(1, smoothAdjusted(view, memory, series, 2 * view.thresholds.window));
    const peak = peakOf(memory, 'peak', value);
    if (Number.isNaN(value) || !(peak > 0)) return null;
    return low(view, series, value, peak, view.thresholds.solved_levels * peak);
  },
};

/** Reads how far success is below its peak: by at least a fraction of the peak, and by more than sampling noise. */
const belowPeak =
  (share: (thresholds: Parameters<Detector['read']>[0]['thresholds']) => number): Detector['read'] =>
  (view) => {
    const { series, value, peak, fall, error } = view.outcome;
    if (!series || Number.isNaN(value) || !(fall >= 0)) return null;
    const minimum = share(view.thresholds);
    // `fall` is relative; the scale converts it to the metric's unit.
    const scale = fall > 0 ? (peak - value) / fall : 0;
    const threshold = peak - Math.max(minimum * scale, view.thresholds.success_errors * error);
    const reading = low(view, series, value, peak, threshold);
    return scale > 0 ? reading : { ...reading, hot: false, cool: true };
  };

export const successFalls: Detector = {
  name: 'success_falls',
  title: 'Success falls',
  meaning: 'Success is well below its peak, by more than sampling noise.',
  stage: 'late',
  regime: null,
  family: 'success',
  read: belowPeak(({ success_falls }) => success_falls),
};

export const successLost: Detector = {
  name: 'success_lost',
  title: 'Success lost',
  meaning: 'Most of the success is lost and does not return.',
  stage: 'confirming',
  regime: null,
  family: 'success',
  unweighted: true,
  read: belowPeak(({ success_lost }) => success_lost),
};
