import {
  baselineOf,
  detector,
  high,
  low,
  peakOf,
  type Reading,
  smooth,
  smoothAdjusted,
  threshold,
  type View,
} from '../detector.ts';

/** Detectors on rewards and success. */

const rewardStd = 'rollout/reward_std_in_group';

/** The paper's first signal: the in-group reward std U(s0) = Std[R] falls, and the learning signal with it. */
export const rewardStdFalls = detector({
  name: 'reward_std_falls',
  title: 'Reward std falls',
  meaning: 'Rewards of episodes of the same level differ less and less, so there is little to learn from.',
  regime: 'template',
  family: 'reward_std',
  reference: 'best',
  weight: 0,
  thresholds: { reward_std_share: threshold(0.5, 0.01, 0.95), reward_std_floor: threshold(0.03, 0, 0.2) },
  read(view, memory, own) {
    const { parameters, facts } = view;
    const value = smooth(view, rewardStd);
    const first = baselineOf(view, memory, rewardStd);
    if (Number.isNaN(value) || Number.isNaN(first)) return null;
    // Early collapse leaves no baseline; the floor, a fraction of the reward range, still applies.
    const baseline = Math.max(first, peakOf(memory, 'peak', smooth(view, rewardStd, 2 * parameters.window)));
    const range = facts.rewardRange ?? 2 * baseline;
    const limit = Math.max(own.reward_std_share * baseline, own.reward_std_floor * range);
    return low(view, rewardStd, value, baseline, limit);
  },
});

/** Among zero-variance groups, only failed ones are evidence of collapse; the others are solved levels. */
export const groupsFail = detector({
  name: 'groups_fail',
  title: 'All-fail groups increase',
  meaning: 'On more and more levels every episode fails, and these levels give no signal to improve.',
  regime: 'template',
  family: 'reward_std',
  weight: 0,
  thresholds: { failed_groups: threshold(0.29, 0.05, 1) },
  read(view, memory, own) {
    const series = 'rollout/zero_std_failed';
    const value = smooth(view, series, 2 * view.parameters.window);
    const baseline = baselineOf(view, memory, series);
    if (Number.isNaN(value) || Number.isNaN(baseline)) return null;
    const start = Math.min(baseline, 0.5);
    const share = Math.min(0.95, start + own.failed_groups);
    // A run that starts with mostly failed levels needs a higher threshold.
    return high(view, series, value, start, Math.max(share, Math.min(1, baseline + 0.1)));
  },
});

/** Share of levels that at least one episode solves, compared with its peak. */
export const levelsLost = detector({
  name: 'levels_lost',
  title: 'Fewer levels solved',
  meaning: 'On more levels, no episode succeeds at all.',
  family: 'success',
  reference: 'best',
  weight: 0.23,
  notInPaper: true,
  thresholds: { solved_levels: threshold(0.7, 0.05, 0.95) },
  read(view, memory, own) {
    const series = 'rollout/pass_at_n';
    // The difficulty adjustment can exceed 1.
    const value = Math.min(1, smoothAdjusted(view, memory, series, 2 * view.parameters.window));
    const peak = peakOf(memory, 'peak', value);
    if (Number.isNaN(value) || !(peak > 0)) return null;
    return low(view, series, value, peak, own.solved_levels * peak);
  },
});

/** Minimum drop of success in standard errors. */
const minimumErrors = { success_errors: threshold(1, 0, 5) };

/** Returns how far success (without success, the reward) is below its peak. The signal is on if the fall exceeds both the fraction `minimum` of the peak (for rewards, of their range) and sampling noise. */
function belowPeak(view: View, minimum: number, errors: number): Reading | null {
  const { series, value, peak, fall, error } = view.outcome;
  if (!series || Number.isNaN(value) || !(fall >= 0)) return null;
  // `fall` is relative; the scale converts it to the metric's unit.
  const scale = fall > 0 ? (peak - value) / fall : 0;
  const reading = low(view, series, value, peak, peak - Math.max(minimum * scale, errors * error));
  return scale > 0 ? reading : { ...reading, hot: false, cool: true };
}

export const successFalls = detector({
  name: 'success_falls',
  title: 'Success falls',
  meaning: 'Success is well below its peak, by more than sampling noise.',
  stage: 'late',
  family: 'success',
  reference: 'best',
  weight: 0,
  thresholds: { success_falls: threshold(0.25, 0.02, 0.9), ...minimumErrors },
  read: (view, _memory, own) => belowPeak(view, own.success_falls, own.success_errors),
});

export const successLost = detector({
  name: 'success_lost',
  title: 'Success lost',
  meaning: 'Success is far below its peak, by more than sampling noise.',
  stage: 'confirming',
  family: 'success',
  reference: 'best',
  thresholds: { success_lost: threshold(0.5, 0.1, 0.99), ...minimumErrors },
  read: (view, _memory, own) => belowPeak(view, own.success_lost, own.success_errors),
});
