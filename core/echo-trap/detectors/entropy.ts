import { baselineOf, type Detector, high, low, peakOf, smooth } from '../detector.ts';

const entropy = 'rollout/entropy';

export const entropyFalls: Detector = {
  name: 'entropy_falls',
  title: 'Entropy falls',
  meaning: 'The policy is sure of nearly every word: it tries out little that is new.',
  stage: 'early',
  regime: 'template',
  family: 'entropy',
  read(view, memory) {
    const value = smooth(view, entropy);
    const baseline = baselineOf(view, memory, entropy);
    if (Number.isNaN(value) || !(baseline > 0)) return null;
    return low(view, entropy, value, baseline, view.thresholds.entropy_low * baseline);
  },
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
  read(view, memory) {
    const value = smooth(view, entropy);
    const baseline = baselineOf(view, memory, entropy);
    if (Number.isNaN(value) || !(baseline > 0)) return null;
    return high(view, entropy, value, baseline, view.thresholds.entropy_high * baseline);
  },
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
