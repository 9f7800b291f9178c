import { type Detector, low } from '../detector.ts';

/** Twice the standard error: what luck with the levels of a few iterations makes. */
const errors = 2;

const fallen =
  (share: (thresholds: Parameters<Detector['read']>[0]['thresholds']) => number): Detector['read'] =>
  (view) => {
    const { series, value, peak, fall, error } = view.outcome;
    if (!series || Number.isNaN(value) || !(fall >= 0)) return null;
    const wanted = share(view.thresholds);
    // Where a fall is measured in shares, the threshold is as far under the peak as they say.
    const scale = fall > 0 ? (peak - value) / fall : 0;
    const threshold = peak - Math.max(wanted * scale, errors * error);
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
  read: fallen(({ success_lost }) => success_lost),
};
