import { baselineOf, type Detector, high, low, peakOf, smooth } from '../detector.ts';

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
  read(view, memory) {
    const series = 'rollout/response_tokens';
    const value = smooth(view, series);
    const baseline = baselineOf(view, memory, series);
    if (Number.isNaN(value) || !(baseline > 0)) return null;
    return high(view, series, value, baseline, view.thresholds.length_change * baseline);
  },
};
