import type { TrapSignal } from '../contract/echo-trap.ts';
import { type Detector, type Memory, type Reading, strengthOf, type View } from './detector.ts';
import * as policy from './detectors/policy.ts';
import * as reasoning from './detectors/reasoning.ts';
import * as rewards from './detectors/rewards.ts';

/** All detectors, in the order of the signals in the API. */
export const detectors: readonly Detector[] = [
  rewards.rewardStdFalls,
  rewards.groupsFail,
  policy.entropyFalls,
  policy.entropyRises,
  policy.entropyRebounds,
  reasoning.templateShareRises,
  reasoning.singleReasoning,
  reasoning.reasoningSimilar,
  reasoning.reasoningShortens,
  reasoning.reasoningIgnoresState,
  reasoning.actionsIgnoreState,
  reasoning.actionsScatter,
  reasoning.episodesGrow,
  rewards.levelsLost,
  policy.formatFalls,
  policy.responsesGrow,
  policy.stepsLong,
  policy.updatesClip,
  policy.lostAtOnce,
  policy.gradientGrows,
  policy.gradientSpikes,
  policy.notFinite,
  rewards.successFalls,
  rewards.successLost,
];

/** State of a signal. It turns on and off only after several consecutive iterations, so that noise does not make it flicker. */
export interface Latch {
  hot: number;
  cool: number;
  /** First iteration of the current hot stretch. */
  hotSince: number;
  on: boolean;
  since: number | null;
  /** Latest reading; null before the first. */
  reading: Reading | null;
  /** Smoothed strength, 0 to 2: the mean of the latest strength and the previous value. */
  strength: number;
  /** The value farthest beyond the threshold since the signal turned on. */
  extreme: number | null;
  memory: Memory;
}

export const newLatches = (): Latch[] =>
  detectors.map(() => ({
    hot: 0,
    cool: 0,
    hotSince: 0,
    on: false,
    since: null,
    reading: null,
    strength: 0,
    extreme: null,
    memory: {},
  }));

/** Runs all detectors on one more iteration. */
export function readSignals(view: View, latches: readonly Latch[]): void {
  for (const [i, detector] of detectors.entries()) readSignal(detector, view, latches[i]!);
}

function readSignal(detector: Detector, view: View, latch: Latch): void {
  const reading = detector.read(view, latch.memory, view.thresholds);
  if (reading) switchLatch(detector, reading, view, latch);
  const strength = detector.allOrNothing ? Number(latch.on) : reading ? strengthOf(reading) : 0;
  latch.strength = (latch.strength + strength) / 2;
}

function switchLatch(detector: Detector, reading: Reading, view: View, latch: Latch): void {
  const { parameters, thresholds, iteration } = view;
  latch.reading = reading;
  if (reading.hot && latch.hot === 0) latch.hotSince = iteration;
  if (!reading.hot && !latch.on) latch.extreme = null;
  else if (reading.hot) latch.extreme = farther(latch.extreme, reading);
  latch.hot = reading.hot ? latch.hot + 1 : 0;
  latch.cool = reading.cool ? latch.cool + 1 : 0;
  const onAfter = neededFor(detector, view);
  const offAfter = detector.offAfter?.(thresholds) ?? parameters.off_after;
  if (!latch.on && latch.hot >= onAfter) {
    latch.on = true;
    latch.since = latch.hotSince;
  } else if (latch.on && latch.cool >= offAfter) {
    latch.on = false;
    latch.since = null;
    latch.extreme = null;
  }
}

/** Returns the consecutive iterations beyond the threshold that turn a signal on. */
const neededFor = (detector: Detector, { parameters, thresholds }: Pick<View, 'parameters' | 'thresholds'>) =>
  detector.onAfter?.(thresholds) ?? parameters.on_after;

const farther = (extreme: number | null, { value, baseline }: Reading): number =>
  extreme === null || (value > baseline ? value > extreme : value < extreme) ? value : extreme;

/** Returns the signals for the API. `contributions`: those of each signal to the risk score (risk.ts). */
export function shownSignals(
  latches: readonly Latch[],
  contributions: readonly number[],
  limits: Pick<View, 'parameters' | 'thresholds'>,
): TrapSignal[] {
  return detectors.map((detector, i) => {
    const { name, title, meaning, stage, regime, reference = 'usual' } = detector;
    const { on, since, reading, extreme, hot } = latches[i]!;
    return {
      name,
      title,
      meaning,
      stage,
      regime,
      reference,
      on,
      since,
      series: reading?.series ?? '',
      value: reading?.value ?? null,
      baseline: finite(reading?.baseline),
      threshold: finite(reading?.threshold),
      worse: reading?.worse ?? null,
      beyond: hot,
      needed: neededFor(detector, limits),
      contribution: contributions[i]!,
      extreme: on ? extreme : null,
    };
  });
}

const finite = (value: number | undefined) => (Number.isFinite(value) ? value! : null);
