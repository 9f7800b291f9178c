import type { TrapLevel, TrapState } from '../contract/echo-trap.ts';
import type { Outcome } from './outcome.ts';
import { detectors, type Latch } from './signals.ts';
import type { Thresholds } from './thresholds.ts';

/** From signals to a state, with hysteresis: upwards at once, since every signal has waited already; downwards only after some calm. */

export interface Standing {
  state: TrapState;
  since: number;
  /** Iterations in a row that asked for something lower than the state. */
  calm: number;
  /** The highest level that was told and hasn't been left since. */
  told: TrapLevel | null;
}

export const newStanding = (): Standing => ({ state: 'healthy', since: 0, calm: 0, told: null });

/** How bad a state is; those of one rank replace each other at once. */
const ranks: Record<TrapState, number> = {
  healthy: 0,
  solved: 0,
  locked: 1,
  watch: 1,
  warning: 2,
  collapsing: 3,
  collapsed: 4,
};
/** Level `warning` or above. */
export const isAlarm = (state: TrapState) => ranks[state] >= ranks.warning;

const levels: readonly TrapLevel[] = ['watch', 'warning', 'collapsing', 'collapsed'];

/** Moves on by one iteration; gives the level that is new and has to be told, null where there is none. */
export function moveOn(
  standing: Standing,
  target: TrapState,
  iteration: number,
  calmFor: number,
): TrapLevel | null {
  const rise = ranks[target] - ranks[standing.state];
  standing.calm = rise < 0 ? standing.calm + 1 : 0;
  if (target !== standing.state && (rise >= 0 || standing.calm >= calmFor)) {
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

/** What the signals of one iteration ask for. */
export function targetOf(
  latches: readonly Latch[],
  outcome: Outcome,
  iteration: number,
  thresholds: Thresholds,
): TrapState {
  const on = new Set(detectors.filter((_, i) => latches[i]!.on).map(({ name }) => name));
  const lasting = (name: string) => {
    const { since } = latches[detectors.findIndex((each) => each.name === name)]!;
    return since === null ? 0 : iteration - since + 1;
  };
  const families = (regime: string) =>
    new Set(
      detectors
        .filter((each) => each.stage === 'early' && each.regime === regime && on.has(each.name))
        .map(({ family }) => family),
    );
  const template = families('template');
  const chaos = families('chaos');
  const early = Math.max(template.size, chaos.size);
  if (lasting('success_lost') >= thresholds.lost_for) return 'collapsed';
  if (on.has('not_finite')) return 'collapsing';
  if (early > 0 && on.has('success_falls')) return 'collapsing';
  if (isSolved(on, outcome, thresholds)) return 'solved';
  if (chaos.size >= 2) return 'warning';
  const learning = outcome.sincePeak < thresholds.stalled_for;
  if (template.size >= 2 && on.has('moves_lose_board') && !learning) return 'warning';
  if (template.has('thoughts') && !learning) return 'locked';
  return early > 0 ? 'watch' : 'healthy';
}

/** Success near the top and at its own peak: then spread, entropy and variety fall because nothing is left to learn. */
const isSolved = (on: ReadonlySet<string>, { value, peak }: Outcome, { solved }: Thresholds) =>
  on.has('spread_falls') && value >= solved && value >= 0.95 * peak;
