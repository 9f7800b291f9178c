import { type Detector, low, peakOf, smooth } from '../detector.ts';

/** I(a; board) of the first move, in nats: it falls where even the moves stop looking. */
export const movesLoseBoard: Detector = {
  name: 'moves_lose_board',
  title: 'Moves stop looking at the board',
  meaning: 'The first move depends less and less on the board: the policy plays one plan everywhere.',
  stage: 'early',
  regime: 'template',
  family: 'moves',
  read(view, memory) {
    const series = 'rollout/first_action_dependence';
    const value = smooth(view, series, 2 * view.thresholds.window);
    const baseline = peakOf(memory, 'peak', value);
    // Below 0.1 nats there was nothing to lose.
    if (Number.isNaN(value) || !(baseline > 0.1)) return null;
    return low(view, series, value, baseline, view.thresholds.move_dependence * baseline);
  },
};
