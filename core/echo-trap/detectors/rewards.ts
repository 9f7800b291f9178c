import { baselineOf, type Detector, high, low, peakOf, smooth, smoothLevelled } from '../detector.ts';

/** What rewards and success show. */

const spread = 'rollout/reward_std_in_group';

/** The paper's first sign: rewards within a group stop differing, U(s0) = Std[R] falls, and with it all that can be learned from. */
export const spreadFalls: Detector = {
  name: 'spread_falls',
  title: 'Spread of rewards falls',
  meaning: 'Episodes of the same board end alike, so there is little left to compare and to learn from.',
  stage: 'early',
  regime: 'template',
  family: 'spread',
  read(view, memory) {
    const { thresholds, facts } = view;
    const value = smooth(view, spread);
    const first = baselineOf(view, memory, spread);
    if (Number.isNaN(value) || Number.isNaN(first)) return null;
    // A run that dies at once has no baseline of its own: then the floor, a share of the environment's range, is all there is.
    const baseline = Math.max(first, peakOf(memory, 'peak', smooth(view, spread, 2 * thresholds.window)));
    const range = facts.rewardRange ?? 2 * baseline;
    const threshold = Math.max(thresholds.spread_share * baseline, thresholds.spread_floor * range);
    return low(view, spread, value, baseline, threshold);
  },
};

/** Groups without spread are split: solved ones are a success, failed ones are boards that the policy has given up. */
export const groupsFail: Detector = {
  name: 'groups_fail',
  title: 'Whole groups fail',
  meaning:
    'On more and more boards every episode fails: the policy does one thing whatever it sees, and nothing tells it of a better one.',
  stage: 'early',
  regime: 'template',
  family: 'spread',
  read(view, memory) {
    const series = 'rollout/zero_std_failed';
    const value = smooth(view, series, 2 * view.thresholds.window);
    const baseline = baselineOf(view, memory, series);
    if (Number.isNaN(value) || Number.isNaN(baseline)) return null;
    const start = Math.min(baseline, 0.5);
    const share = Math.min(0.95, start + view.thresholds.failed_groups);
    // A run that begins with most boards failed can't be judged by that share.
    return high(view, series, value, start, Math.max(share, Math.min(1, baseline + 0.1)));
  },
};

/** Boards that one of a group's episodes still solves: where they grow fewer, whole kinds of boards are being given up. */
export const boardsLost: Detector = {
  name: 'boards_lost',
  title: 'Fewer boards are solved',
  meaning: 'On fewer boards than before does any episode succeed: whole kinds of boards are being given up.',
  stage: 'early',
  regime: null,
  family: 'success',
  later: true,
  read(view, memory) {
    const series = 'rollout/pass_at_n';
    // A share, which the correction may carry past 1.
    const value = Math.min(1, smoothLevelled(view, memory, series, 2 * view.thresholds.window));
    const peak = peakOf(memory, 'peak', value);
    if (Number.isNaN(value) || !(peak > 0)) return null;
    return low(view, series, value, peak, view.thresholds.boards * peak);
  },
};

/** As far under the peak as a share of it says, and by more than luck with the boards makes. */
const fallen =
  (share: (thresholds: Parameters<Detector['read']>[0]['thresholds']) => number): Detector['read'] =>
  (view) => {
    const { series, value, peak, fall, error } = view.outcome;
    if (!series || Number.isNaN(value) || !(fall >= 0)) return null;
    const wanted = share(view.thresholds);
    // Where a fall is measured in shares, the threshold is as far under the peak as they say.
    const scale = fall > 0 ? (peak - value) / fall : 0;
    const threshold = peak - Math.max(wanted * scale, view.thresholds.success_errors * error);
    const reading = low(view, series, value, peak, threshold);
    return scale > 0 ? reading : { ...reading, hot: false, cool: true };
  };

export const successFalls: Detector = {
  name: 'success_falls',
  title: 'Success falls',
  meaning: 'Success is well under its own peak, by more than luck with the boards explains.',
  stage: 'late',
  regime: null,
  family: 'success',
  read: fallen(({ success_falls }) => success_falls),
};

export const successLost: Detector = {
  name: 'success_lost',
  title: 'Success is lost',
  meaning: 'Most of what the run had reached is gone, and stays gone.',
  stage: 'confirming',
  regime: null,
  family: 'success',
  uncounted: true,
  read: fallen(({ success_lost }) => success_lost),
};
