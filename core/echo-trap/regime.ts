import type { RegimeMap, RegimePoint, TrapRegime, TrapState } from '../contract/echo-trap.ts';
import { quadrantOf } from '../contract/regime-map.ts';
import type { View } from './detector.ts';
import { smooth } from './detector.ts';
import { isCalm } from './machine.ts';
import { detectors, type Latch } from './signals.ts';
import type { Watched } from './track.ts';

/** The point where the quadrants of RAGEN-2's map meet: half of the baseline entropy, and a quarter of the maximum mutual information. */
export const cross = { entropy: 0.5, dependence: 0.25 };

export interface Position {
  point: RegimePoint;
  series: { entropy: Watched; dependence: Watched };
}

/** Uses mutual information relative to its ceiling if measured; else the share of episodes without the most common reasoning; else the share of distinct reasoning. */
function dependenceOf(view: View): { series: Watched; value: number } {
  const information = smooth(view, 'diagnostics/mutual_information', 3);
  const ceiling = smooth(view, 'diagnostics/mutual_information_ceiling', 3);
  if (information / ceiling >= 0 || information / ceiling < 0)
    return { series: 'diagnostics/mutual_information', value: information / ceiling };
  const share = smooth(view, 'rollout/template_share');
  if (!Number.isNaN(share)) return { series: 'rollout/template_share', value: 1 - share };
  return {
    series: 'rollout/distinct_first_thoughts',
    value: smooth(view, 'rollout/distinct_first_thoughts'),
  };
}

/** Returns the run's position on the regime map; null if entropy or dependence is missing. */
export function positionOf(view: View, latches: readonly Latch[]): Position | null {
  const reading = latches[detectors.findIndex(({ name }) => name === 'entropy_falls')]!.reading;
  const { series, value } = dependenceOf(view);
  if (!reading || Number.isNaN(value)) return null;
  const entropy = reading.value / reading.baseline;
  if (!Number.isFinite(entropy)) return null;
  const dependence = Math.min(1, Math.max(0, value));
  return {
    point: { iteration: view.iteration, entropy, dependence },
    series: { entropy: 'rollout/entropy', dependence: series },
  };
}

/**
 * Returns the failure mode and what names it. It never contradicts the state: a healthy or solved run has none, and any other run has one or it is `unknown`. Chaos follows
 * from its own signals, other modes from the quadrant.
 */
export function regimeOf(
  point: RegimePoint | null,
  latches: readonly Latch[],
  state: TrapState,
): Pick<RegimeMap, 'regime' | 'namedBy'> {
  if (isCalm(state)) return { regime: point ? 'healthy' : 'unknown', namedBy: 'state' };
  const active = detectors.filter((_, i) => latches[i]!.on);
  const count = (regime: TrapRegime) => active.filter((each) => each.regime === regime).length;
  if (count('chaos') > 0 && count('chaos') >= count('template')) return { regime: 'chaos', namedBy: 'signals' };
  if (point) return { regime: quadrantOf(point, cross), namedBy: 'position' };
  const repeats = active.some(({ family, regime }) => family === 'reasoning' && regime === 'template');
  return { regime: repeats ? 'template' : 'unknown', namedBy: 'signals' };
}
