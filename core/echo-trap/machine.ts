import type { TrapLevel, TrapState, TrapVerdict } from '../contract/echo-trap.ts';
import { isAlarm } from '../contract/trap-words.ts';
import type { Detector } from './detector.ts';
import type { Outcome } from './outcome.ts';
import { clearRisk, minimumObserved, observedRisk, warnRisk, watchRisk } from './risk.ts';
import { detectors, type Latch } from './signals.ts';
import type { Thresholds } from './thresholds.ts';

/** The state machine of the monitor. It moves to a worse state immediately, because signals turn on only after several iterations, and to any other state only after some calm iterations. */

export interface Standing {
  state: TrapState;
  since: number;
  /** Consecutive iterations whose target was another, not worse state. */
  calm: number;
  /** The worst target below a warning in those iterations; null if there was none. */
  next: TrapState | null;
  /** The highest level reported since the run was last healthy. */
  reported: TrapLevel | null;
}

export const newStanding = (): Standing => ({ state: 'healthy', since: 0, calm: 0, next: null, reported: null });

/** Severity of a state. */
const ranks: Record<TrapVerdict, number> = {
  unmeasured: 0,
  healthy: 0,
  solved: 0,
  narrowing: 1,
  watch: 2,
  locked: 2,
  warning: 3,
  collapsing: 4,
  collapsed: 5,
};
/** Returns whether a state is `healthy`, `solved` or `unmeasured`. */
export const isCalm = (state: TrapVerdict): boolean => ranks[state] === ranks.healthy;

/** Returns whether reasoning is, or becomes, the same on every level. */
export const losesVariety = (state: TrapVerdict): boolean => state === 'narrowing' || state === 'locked';

/** The level that a state reports. */
const levelOf = (state: TrapState): TrapLevel | null => {
  if (isCalm(state)) return null;
  return losesVariety(state) ? 'watch' : (state as TrapLevel);
};

/** Returns how many calm iterations a state needs to clear. States below a warning need twice as many, because noise would turn them on again. Alarms are not affected. */
export const clearsAfter = (state: TrapState, calmFor: number): number => (isAlarm(state) ? calmFor : 2 * calmFor);

/**
 * Advances by one iteration. Returns the level to report, or null. A state clears to the worst target of its calm iterations, so that a target that
 * alternates doesn't change the state twice.
 */
export function advance(standing: Standing, target: TrapState, iteration: number, calmFor: number): TrapLevel | null {
  const rise = ranks[target] - ranks[standing.state];
  standing.calm = target !== standing.state && rise <= 0 ? standing.calm + 1 : 0;
  if (standing.calm === 0) standing.next = null;
  else if (!isAlarm(target) && ranks[target] >= ranks[standing.next ?? target]) standing.next = target;
  if (rise > 0 || standing.calm >= clearsAfter(standing.state, calmFor)) {
    standing.state = isAlarm(target) ? target : (standing.next ?? target);
    standing.since = iteration;
    standing.calm = 0;
    standing.next = null;
  }
  const level = levelOf(standing.state);
  if (level === null) standing.reported = null;
  else if (!isAlarm(standing.state) && standing.reported) standing.reported = 'watch';
  const locks = rise > 0 && standing.state === 'locked';
  if (level === null || (standing.reported && ranks[level] <= ranks[standing.reported] && !locks)) return null;
  standing.reported = level;
  return level;
}

/**
 * Returns the target state for one iteration. `state`: the current state, because a warning clears at a lower risk than it starts. `risk`: the risk score,
 * or null if the weights do not apply.
 */
export function targetOf(
  state: TrapState,
  latches: readonly Latch[],
  outcome: Outcome,
  iteration: number,
  risk: number | null,
  thresholds: Thresholds,
): TrapState {
  const active = detectors.flatMap((detector, i) => {
    const { on, since } = latches[i]!;
    return on && since !== null ? { detector, lasting: iteration - since + 1 } : [];
  });
  const isOn = (name: string) => active.some(({ detector }) => detector.name === name);
  const lost = active.find(({ detector }) => detector.name === 'success_lost');
  if (lost && lost.lasting >= thresholds.lost_for) return 'collapsed';
  if (isOn('not_finite')) return 'collapsing';
  if (isSolved(isOn('reward_std_falls'), outcome, thresholds)) return 'solved';
  const warned =
    risk === null
      ? paperEvidenceOf(active, outcome, thresholds) >= 1
      : (risk >= warningRisk(state) && (isAlarm(state) || isBacked(latches, active))) ||
        (isOn('success_falls') && isConfirmed(latches));
  if (warned) return isOn('success_falls') ? 'collapsing' : 'warning';
  const early = active.filter(({ detector }) => detector.stage === 'early');
  const reasoningRepeats = early.some(
    ({ detector: { name, family } }) =>
      family === 'reasoning' && (name !== 'reasoning_ignores_state' || !countsReasoning(latches)),
  );
  if (reasoningRepeats) return Math.abs(outcome.trend) <= thresholds.learning ? 'locked' : 'narrowing';
  // Signals without weight also turn on in healthy runs, so they do not trigger `watch`.
  const isNotable =
    risk === null ? early.length > 0 : risk >= watchRisk && observedRisk(latches, thresholds) >= minimumObserved;
  return isNotable ? 'watch' : 'healthy';
}

/**
 * Returns whether the run counts its reasoning texts. Mutual information is estimated from few levels and turns on in healthy runs, so it shows repeated reasoning only
 * in runs without those counts.
 */
const countsReasoning = (latches: readonly Latch[]) =>
  detectors.some(
    ({ family, name }, i) => family === 'reasoning' && name !== 'reasoning_ignores_state' && latches[i]!.reading,
  );

/** Returns the risk score that starts a warning, or in an alarm state the one that keeps it. */
export const warningRisk = (state: TrapState): number => (isAlarm(state) ? clearRisk : warnRisk);

/** A signal at this fraction of the way to its threshold backs a warning. */
const backing = 1 / 3;

/**
 * Returns whether two families of signals, a persistent signal or a decisive one back a warning. A risk score alone does not start one, because a large step size adds nearly half of
 * it. Only signals with a weight of the shipped thresholds count: the others are on in many healthy runs.
 */
function isBacked(latches: readonly Latch[], active: readonly ActiveSignal[]): boolean {
  const isEnough = ({ detector, lasting }: ActiveSignal) =>
    detector.decisive || (detector.stage === 'early' && counts(detector) && lasting >= persists);
  if (active.some(isEnough)) return true;
  const families = detectors.flatMap((detector, i) => {
    const { on, strength } = latches[i]!;
    return counts(detector) && (on || strength >= backing) ? [detector.family] : [];
  });
  return new Set(families).size >= 2;
}

const counts = ({ stage, weight = 0 }: Detector) => stage !== 'setting' && weight > 0;

/** The paper's four signals, each with its detectors. */
const paperSignals: readonly (readonly string[])[] = [
  ['reward_std_falls', 'groups_fail'],
  ['entropy_falls', 'entropy_rises', 'entropy_rebounds'],
  ['gradient_spikes', 'gradient_grows', 'not_finite'],
  ['template_share_rises', 'reasoning_similar', 'reasoning_ignores_state', 'actions_ignore_state'],
];

/** Returns whether all four signals of the paper are on, which confirms the Echo Trap for any risk score. */
const isConfirmed = (latches: readonly Latch[]) =>
  paperSignals.every((names) => detectors.some(({ name }, i) => names.includes(name) && latches[i]!.on));

interface ActiveSignal {
  detector: Detector;
  /** Number of iterations since it turned on. */
  lasting: number;
}

/** An early signal that stays on for this many iterations is enough for a warning. */
const persists = 20;

/**
 * Returns the evidence for runs without reasoning metrics, such as runs of other trainers, by the paper's rule: signals of two families, a persistent early signal or a decisive signal trigger a
 * warning. Template signals count half while success rises. Signals of one family count once.
 */
function paperEvidenceOf(active: readonly ActiveSignal[], { trend }: Outcome, thresholds: Thresholds): number {
  const byFamily = new Map<string, number>();
  for (const { detector, lasting } of active) {
    if (detector.notInPaper) continue;
    const weight = trend > thresholds.learning && detector.regime === 'template' ? 0.5 : 1;
    const isEnough = detector.decisive || (detector.stage === 'early' && lasting >= persists);
    const counted = weight * (isEnough ? 1 : 0.5);
    byFamily.set(detector.family, Math.max(counted, byFamily.get(detector.family) ?? 0));
  }
  return [...byFamily.values()].reduce((total, value) => total + value, 0);
}

/** Success is high and near its peak: reward std and entropy fall because little is left to learn. */
const isSolved = (isSettled: boolean, { value, peak }: Outcome, { solved }: Thresholds) =>
  isSettled && value >= solved && value >= 0.9 * peak;
