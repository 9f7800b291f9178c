import type { TrapLevel, TrapState } from '../contract/echo-trap.ts';
import { knownWord, type OpenWord } from '../contract/open-words.ts';
import type { Detector } from './detector.ts';
import { lampsOf } from './lamps.ts';
import type { Outcome } from './outcome.ts';
import { leastSeen, seenRisk, uneasy } from './risk.ts';
import { detectors, type Latch } from './signals.ts';
import type { Thresholds } from './thresholds.ts';

/** From signals to a state, with hysteresis: upwards at once, since what asks for it has waited already; downwards, or to another state of the same rank, only after some calm. */

export interface Standing {
  state: TrapState;
  since: number;
  /** Iterations in a row that asked for another state, and for no higher one. */
  calm: number;
  /** The highest level that was told and hasn't been left since. */
  told: TrapLevel | null;
}

export const newStanding = (): Standing => ({ state: 'healthy', since: 0, calm: 0, told: null });

/** How bad a state is. */
const ranks: Record<TrapState, number> = {
  healthy: 0,
  solved: 0,
  locked: 1,
  watch: 1,
  warning: 2,
  collapsing: 3,
  collapsed: 4,
};
/** Level `warning` or above; a word that this version doesn't know is none. */
export const isAlarm = (state: OpenWord<TrapState>) => (knownWord(ranks, state) ?? 0) >= ranks.warning;

const levels: readonly TrapLevel[] = ['watch', 'warning', 'collapsing', 'collapsed'];

/** Moves on by one iteration; gives the level that is new and has to be told, null where there is none. */
export function moveOn(
  standing: Standing,
  target: TrapState,
  iteration: number,
  calmFor: number,
): TrapLevel | null {
  const rise = ranks[target] - ranks[standing.state];
  standing.calm = target !== standing.state && rise <= 0 ? standing.calm + 1 : 0;
  if (rise > 0 || standing.calm >= calmFor) {
    standing.state = target;
    standing.since = iteration;
    standing.calm = 0;
  }
  const rank = ranks[standing.state];
  if (rank === 0) standing.told = null;
  else if (!isAlarm(standing.state) && standing.told) standing.told = 'watch';
  const level = rank === 0 ? null : levels[rank - 1]!;
  if (!level || rank <= (standing.told ? levels.indexOf(standing.told) + 1 : 0)) return null;
  standing.told = level;
  return level;
}

/** What the signals of one iteration ask for; `risk` is null where points say nothing. */
export function targetOf(
  latches: readonly Latch[],
  outcome: Outcome,
  iteration: number,
  risk: number | null,
  thresholds: Thresholds,
): TrapState {
  const lit = detectors.flatMap((detector, i) => {
    const { on, since } = latches[i]!;
    return on && since !== null ? { detector, lasting: iteration - since + 1 } : [];
  });
  const isOn = (name: string) => lit.some(({ detector }) => detector.name === name);
  const lost = lit.find(({ detector }) => detector.name === 'success_lost');
  if (lost && lost.lasting >= thresholds.lost_for) return 'collapsed';
  if (isOn('not_finite')) return 'collapsing';
  if (isSolved(isOn('spread_falls'), outcome, thresholds)) return 'solved';
  const warned =
    risk === null
      ? paperEvidenceOf(lit, outcome, thresholds) >= 1
      : risk >= 1 || (isOn('success_falls') && isConfirmed(latches));
  if (warned) return isOn('success_falls') ? 'collapsing' : 'warning';
  const early = lit.filter(({ detector }) => detector.stage === 'early');
  const oneThought = early.some(({ detector }) => detector.family === 'thoughts');
  if (oneThought && Math.abs(outcome.trend) <= thresholds.learning) return 'locked';
  // Signs that count nothing come on in healthy runs as well, and are no reason to look.
  const isNotable =
    risk === null ? early.length > 0 : risk >= uneasy && seenRisk(latches, thresholds) >= leastSeen;
  return isNotable ? 'watch' : 'healthy';
}

/** All four signs of the paper: that is the Echo Trap, whatever they count for. */
const isConfirmed = (latches: readonly Latch[]) => lampsOf(latches).every(({ light }) => light === 'on');

interface Lit {
  detector: Detector;
  /** Iterations that it has been on. */
  lasting: number;
}

/** An early sign that has stood for so many iterations is a warning by itself. */
const persists = 20;

/**
 * Where thoughts aren't told of, as in a run of another trainer, there is only what the paper had, and its rule: two early signs are a warning, as is one that persists. Signs of the
 * template count half while success still rises, and signs of a family see the same thing and count once.
 */
function paperEvidenceOf(lit: readonly Lit[], { trend }: Outcome, thresholds: Thresholds): number {
  const byFamily = new Map<string, number>();
  for (const { detector, lasting } of lit) {
    if (detector.later) continue;
    const excused = trend > thresholds.learning && detector.regime === 'template' ? 0.5 : 1;
    const counted = excused * (detector.stage === 'early' && lasting >= persists ? 1 : 0.5);
    byFamily.set(detector.family, Math.max(counted, byFamily.get(detector.family) ?? 0));
  }
  return [...byFamily.values()].reduce((total, value) => total + value, 0);
}

/** Success near the top and at its own peak: then spread, entropy and variety fall because nothing is left to learn. */
const isSolved = (isSettled: boolean, { value, peak }: Outcome, { solved }: Thresholds) =>
  isSettled && value >= solved && value >= 0.9 * peak;
