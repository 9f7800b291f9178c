import { createHash } from 'node:crypto';
import type { AlertEvidence } from '../contract/contract.ts';
import type { EchoTrap, RegimePoint, TrapLevel, TrapRegime, TrapState } from '../contract/echo-trap.ts';
import type { RunConfig } from '../run-config/run-config.ts';
import { adviceFor } from './advice.ts';
import { type Calibration, shippedCalibration } from './calibration.ts';
import type { Detector, View } from './detector.ts';
import { type Facts, factsOf } from './facts.ts';
import { lampsOf } from './lamps.ts';
import { isAlarm, moveOn, newStanding, type Standing, targetOf } from './machine.ts';
import { followOutcome, newOutcomeMemory, type OutcomeMemory } from './outcome.ts';
import { cross, type Position, positionOf, regimeOf } from './regime.ts';
import { countsOf, riskOf, uneasy } from './risk.ts';
import { detectors, type Latch, newLatches, readSignals, shownSignals } from './signals.ts';
import { broken, evaluated, type Point, Track, type TrackPoint } from './track.ts';
import { alertMessage, mainSignal, stateSummary } from './words.ts';

/** An alert as it is raised; its id follows from what it says and when, so that the same one found again is known. */
export interface TrapAlert extends AlertEvidence {
  id: string;
  kind: string;
  severity: 'notice' | 'warning' | 'critical';
  iteration: number;
  message: string;
  level: TrapLevel;
}

/** All that goes on from one iteration to the next. */
interface Running {
  latches: Latch[];
  outcome: OutcomeMemory;
  standing: Standing;
}

/** What was judged of one index. */
interface Verdict {
  iteration: number;
  state: TrapState;
  since: number;
  regime: TrapRegime;
  position: Position | null;
  /** Whether there were episodes to judge by. */
  played: boolean;
  /** Whether nothing spoke of a fall: no alarm, a low risk, no chaos, no late sign. */
  clear: boolean;
  alert: TrapAlert | null;
}

/** Whether a metric says how the policy plays, or how long its steps were; others are of its updates, which a fork does by its own settings and with a new optimiser. */
const isInherited = (name: string) =>
  name !== broken &&
  name !== evaluated &&
  (!/^(actor|advantage)\//.test(name) || name === 'actor/learning_rate');

/** Iterations between copies of what is running, from which a changed past is judged again. */
const copyEvery = 64;
const longestTrail = 200;

/**
 * Follows one run: takes its metrics as they come and says where it stands. What it says depends on the series alone, not on when or in which pieces they came:
 * live, after a rebuild of the history and offline are the same.
 */
export class Monitor {
  private readonly facts: Facts;
  private readonly config: RunConfig | null;
  private readonly calibration: Calibration;
  private readonly track: Track;
  private running: Running = newRunning();
  private verdicts: Verdict[] = [];
  /** By index: what was running before it. */
  private readonly copies = new Map<number, string>();
  private readonly announced = new Set<string>();
  /** How many of the first indices are what parents did. */
  private readonly inherited: number;

  /** `config`: the run's run.json in today's form, as far as it is known. `normal`: what a fork is measured by, of its parent's {@link normalAt}; only what comes later is told of. */
  constructor(
    config: unknown,
    calibration: Calibration = shippedCalibration,
    normal: readonly TrackPoint[] = [],
  ) {
    this.facts = factsOf(config);
    this.config = isWhole(config) ? config : null;
    this.calibration = calibration;
    this.track = Track.of(normal);
    this.inherited = this.track.length;
    this.judgeFrom(0);
  }

  /**
   * What a fork from an iteration on is measured by: all that led there, of this run and of those that it goes on from. None where something spoke of a fall there already: such a fork is
   * to show that it recovers, and measured by the best of before it would be alarmed from the start.
   */
  normalAt(iteration: number): TrackPoint[] {
    const last = this.own.findLast((each) => each.played && each.iteration <= iteration);
    if (last && !last.clear) return [];
    const points = this.track
      .points()
      .filter((point) => point.iteration <= iteration)
      .map(({ values, ...point }) => ({
        ...point,
        values: Object.fromEntries(Object.entries(values).filter(([name]) => isInherited(name))),
      }));
    const first = this.track.firstEvaluation(this.facts.isTrained);
    if (points[0] && !Number.isNaN(first)) points[0].values[evaluated] = first;
    return points;
  }

  /** Takes one more point, or one again; gives the alerts that are new. */
  take(point: Point): TrapAlert[] {
    return this.takeAll([point]);
  }

  takeAll(points: Iterable<Point>): TrapAlert[] {
    let first = Number.POSITIVE_INFINITY;
    for (const point of points) first = Math.min(first, this.track.put(point) ?? first);
    return first < this.track.length ? this.judgeFrom(first) : [];
  }

  /** A trainer began again after this iteration: what came later is taken back, its alerts with it. */
  rewind(iteration: number): void {
    this.track.truncate(Math.max(iteration, this.start ?? iteration));
    for (const { alert } of this.verdicts)
      if (alert && alert.iteration > iteration) this.announced.delete(alert.id);
    this.judgeFrom(this.track.length);
  }

  /** All alerts of what was taken so far, oldest first. */
  get alerts(): TrapAlert[] {
    return this.own.flatMap(({ alert }) => alert ?? []);
  }

  /** State by judged iteration. */
  get states(): { iteration: number; state: TrapState }[] {
    return this.own.map(({ iteration, state }) => ({ iteration, state }));
  }

  /** Iterations at which it came to `warning` or above, from below. */
  get alarms(): number[] {
    const { own } = this;
    const alarming = own.map(({ state }) => isAlarm(state));
    return own.flatMap(({ iteration }, i) => (alarming[i] && !alarming[i - 1] ? iteration : []));
  }

  /** Null before the first iteration with episodes. */
  view(): EchoTrap | null {
    const { own } = this;
    const last = own.at(-1);
    if (!last || !own.some(({ played }) => played)) return null;
    const placed = own.findLast(({ position }) => position)?.position;
    const { latches } = this.running;
    const lastHealthy = this.lastHealthy();
    const { thresholds } = this.calibration;
    const signals = shownSignals(latches, countsOf(latches, thresholds));
    const path = own.flatMap(({ position }) => position?.point ?? []);
    return {
      state: last.state,
      since: last.since,
      iteration: last.iteration,
      summary: stateSummary(
        last.state,
        last.regime,
        signals,
        last.iteration >= (this.config?.iterations ?? Number.POSITIVE_INFINITY),
      ),
      risk: riskOf(latches, thresholds),
      lastHealthy,
      lamps: lampsOf(latches),
      map: {
        regime: last.regime,
        position: placed?.point ?? null,
        trail: thinned(path),
        cross,
        series: placed?.series ?? { entropy: '', dependence: '' },
      },
      signals,
      history: own
        .filter(({ state }, i) => state !== own[i - 1]?.state)
        .map(({ iteration, state }) => ({ iteration, state })),
      advice: adviceFor(last.state, last.regime, this.config, lastHealthy),
      calibration: this.calibration.about,
    };
  }

  /** Judges again from an index on; what lies before it stands. */
  private judgeFrom(index: number): TrapAlert[] {
    let from = index;
    if (from < this.verdicts.length || this.copies.size === 0) from = this.goBackTo(index);
    const fresh: TrapAlert[] = [];
    for (let i = from; i < this.track.length; i += 1) {
      if (i === this.inherited) becalm(this.running);
      if (i % copyEvery === 0) this.copies.set(i, JSON.stringify(this.running));
      const verdict = this.judge(i);
      this.verdicts.push(verdict);
      if (!verdict.alert || this.announced.has(verdict.alert.id)) continue;
      this.announced.add(verdict.alert.id);
      fresh.push(verdict.alert);
    }
    return fresh;
  }

  private goBackTo(index: number): number {
    const from = index - (index % copyEvery);
    const copy = this.copies.get(from);
    this.running = copy ? (JSON.parse(copy) as Running) : newRunning();
    const start = copy ? from : 0;
    this.verdicts.length = start;
    for (const key of this.copies.keys()) if (key > start) this.copies.delete(key);
    return start;
  }

  private judge(index: number): Verdict {
    const { track, facts, running } = this;
    const { thresholds } = this.calibration;
    const iteration = track.iterations[index]!;
    const { latches, standing } = running;
    const unchanged = { iteration, state: standing.state, since: standing.since, alert: null };
    if (!track.isPlayed(index))
      return { ...unchanged, played: false, regime: 'unknown', position: null, clear: true };
    const outcome = followOutcome(track, index, thresholds, facts, running.outcome);
    const view: View = { track, index, iteration, facts, thresholds, outcome };
    readSignals(view, latches);
    const risk = riskOf(latches, thresholds);
    const level = moveOn(
      standing,
      targetOf(latches, outcome, iteration, risk, thresholds),
      iteration,
      thresholds.calm_for,
    );
    const position = positionOf(view, latches);
    const regime = regimeOf(position?.point ?? null, latches, isAlarm(standing.state));
    const clear =
      !isAlarm(standing.state) &&
      (risk ?? 0) < uneasy &&
      !detectors.some((each, i) => isGrave(each) && isLit(latches[i]!));
    const { state, since } = standing;
    const verdict: Verdict = {
      iteration,
      state,
      since,
      regime,
      position,
      played: true,
      clear,
      alert: null,
    };
    if (level && index >= this.inherited) verdict.alert = this.alertOf(level, verdict);
    return verdict;
  }

  private alertOf(level: TrapLevel, { iteration, state, regime }: Verdict): TrapAlert {
    const { latches } = this.running;
    const signals = shownSignals(latches, countsOf(latches, this.calibration.thresholds));
    const main = mainSignal(state, signals);
    const kind = state === 'locked' ? 'echo_trap_locked' : `echo_trap_${level}`;
    const counting = signals.filter(({ counts }) => counts > 0);
    const starts = (counting.length > 0 ? counting : signals).flatMap(({ since }) => since ?? []);
    return {
      id: createHash('sha256')
        .update(JSON.stringify([kind, iteration]))
        .digest('hex')
        .slice(0, 32),
      kind,
      severity: level === 'watch' ? 'notice' : level === 'warning' ? 'warning' : 'critical',
      iteration,
      message: alertMessage(state, regime, main),
      level,
      series: main?.series || null,
      value: main?.series ? (main.extreme ?? main.value) : null,
      baseline: main?.series ? main.baseline : null,
      since: starts.length > 0 ? Math.min(...starts) : iteration,
      regime,
      advice: adviceFor(state, regime, this.config, this.lastHealthy())
        .filter(({ acts }) => acts)
        .map(({ id }) => id),
    };
  }

  /** The newest iteration from which to go on: before an alarm, and before the signs that come with a fall. */
  private lastHealthy(): number | null {
    return this.own.findLast(({ clear }) => clear)?.iteration ?? this.start;
  }

  /** The iteration that a fork goes on from, where its parents are known. */
  private get start(): number | null {
    return this.inherited > 0 ? this.track.iterations[this.inherited - 1]! : null;
  }

  private get own(): readonly Verdict[] {
    return this.inherited > 0 ? this.verdicts.slice(this.inherited) : this.verdicts;
  }
}

const isGrave = ({ stage, regime }: Detector) => stage !== 'early' || regime === 'chaos';
const isLit = ({ on, hot }: Latch) => on || hot > 0;

const newRunning = (): Running => ({
  latches: newLatches(),
  outcome: newOutcomeMemory(),
  standing: newStanding(),
});

/** A fork begins as a healthy run: of its parents it keeps what is normal, not what they stood in. */
function becalm(running: Running): void {
  for (const [i, latch] of newLatches().entries())
    Object.assign(running.latches[i]!, latch, { memory: running.latches[i]!.memory });
  running.standing = newStanding();
}

/** Whether it has what advice asks for; a run.json of another version may lack some. */
export const isWhole = (config: unknown): config is RunConfig =>
  ['start', 'optimizer', 'policy_loss', 'critic', 'kl', 'filter', 'rollout', 'environments'].every(
    (part) => typeof (config as Record<string, unknown> | null)?.[part] === 'object',
  );

/** At most {@link longestTrail} positions, evenly, the newest among them. */
function thinned(path: readonly RegimePoint[]): RegimePoint[] {
  const step = Math.ceil(path.length / longestTrail);
  return path.filter((_, i) => (path.length - 1 - i) % step === 0);
}
