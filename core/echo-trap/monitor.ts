import { createHash } from 'node:crypto';
import type { AlertEvidence } from '../contract/contract.ts';
import type { EchoTrap, RegimeMap, TrapLevel, TrapRegime, TrapSignal, TrapState } from '../contract/echo-trap.ts';
import { isAlarm } from '../contract/trap-words.ts';
import type { RunConfig } from '../run-config/run-config.ts';
import { adviceFor } from './advice.ts';
import { type Calibration, shippedCalibration } from './calibration.ts';
import type { Detector, View } from './detector.ts';
import { type Facts, factsOf } from './facts.ts';
import { indicatorsOf, isMeasured, whyUnmeasured } from './indicators.ts';
import { advance, clearsAfter, isCalm, losesVariety, newStanding, type Standing, targetOf } from './machine.ts';
import { followOutcome, newOutcomeMemory, type OutcomeMemory } from './outcome.ts';
import { cross, type Position, positionOf, regimeOf } from './regime.ts';
import { clearRisk, collapseRateOf, contributionsOf, riskOf, warnRisk, watchRisk } from './risk.ts';
import { detectors, type Latch, newLatches, readSignals, shownSignals } from './signals.ts';
import { broken, evaluated, type Point, Track, type TrackPoint } from './track.ts';
import { alertMessage, mainSignal, stateSummary, strongestEvidence } from './words.ts';

/** An alert when raised. Its id is a hash of kind and iteration, so replaying the metrics gives the same id. */
export interface TrapAlert extends AlertEvidence {
  id: string;
  kind: string;
  severity: 'notice' | 'warning' | 'critical';
  iteration: number;
  message: string;
  level: TrapLevel;
}

/** State carried from one iteration to the next. */
interface Running {
  latches: Latch[];
  outcome: OutcomeMemory;
  standing: Standing;
  /** Start of the current alarm and its risk score. */
  warned: EchoTrap['warned'];
}

/** Result for one index. */
interface IterationResult {
  iteration: number;
  state: TrapState;
  since: number;
  regime: TrapRegime;
  namedBy: RegimeMap['namedBy'];
  position: Position | null;
  risk: number | null;
  /** Whether the iteration had episodes. */
  played: boolean;
  /** Whether there was no evidence of collapse: no alarm, low risk, no chaos and no late signal. */
  clear: boolean;
  alert: TrapAlert | null;
}

/** Returns whether a fork inherits a metric: rollout metrics and the learning rate, but no update metrics, because a fork has its own settings and optimizer. */
const isInherited = (name: string) =>
  name !== broken && name !== evaluated && (!/^(actor|advantage)\//.test(name) || name === 'actor/learning_rate');

/** Iterations between snapshots of the state, used to re-evaluate changed history. */
const snapshotEvery = 64;
const longestHistory = 200;

/**
 * Monitors one run for collapse. The result depends only on the series, not on when or in which batches they arrive, so it is the same live, after
 * a rebuild of the run history, and offline.
 */
export class Monitor {
  private readonly facts: Facts;
  private readonly config: RunConfig | null;
  private readonly calibration: Calibration;
  private readonly track: Track;
  private running: Running = newRunning();
  private results: IterationResult[] = [];
  /** Snapshots of the state before an index. */
  private readonly snapshots = new Map<number, string>();
  private readonly announced = new Set<string>();
  /** Number of leading indices inherited from parents. */
  private readonly inherited: number;

  /** `config`: the run's run.json, upgraded. `baseline`: for a fork, its parent's {@link forkBaseline}; it is not part of the result. */
  constructor(config: unknown, calibration: Calibration = shippedCalibration, baseline: readonly TrackPoint[] = []) {
    this.facts = factsOf(config);
    this.config = isComplete(config) ? config : null;
    this.calibration = calibration;
    this.track = Track.of(baseline);
    this.inherited = this.track.length;
    this.evaluateFrom(0);
  }

  /**
   * Returns the baseline for a fork at an iteration: the series up to it, including those of its parents. Empty if there was evidence of collapse: such a
   * fork has to recover, and compared with the earlier peak it would raise an alarm immediately.
   */
  forkBaseline(iteration: number): TrackPoint[] {
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

  /** Adds or replaces a point. Returns new alerts. */
  add(point: Point): TrapAlert[] {
    return this.addAll([point]);
  }

  addAll(points: Iterable<Point>): TrapAlert[] {
    let first = Number.POSITIVE_INFINITY;
    for (const point of points) first = Math.min(first, this.track.put(point) ?? first);
    return first < this.track.length ? this.evaluateFrom(first) : [];
  }

  /** Drops everything after an iteration, including alerts, when training resumes from there. */
  rewind(iteration: number): void {
    this.track.truncate(Math.max(iteration, this.start ?? iteration));
    for (const { alert } of this.results) if (alert && alert.iteration > iteration) this.announced.delete(alert.id);
    this.evaluateFrom(this.track.length);
  }

  /** All alerts so far, oldest first. */
  get alerts(): TrapAlert[] {
    return this.own.flatMap(({ alert }) => alert ?? []);
  }

  /** Number of iterations, including those inherited from parents. */
  get length(): number {
    return this.track.length;
  }

  /** State per iteration. */
  get states(): { iteration: number; state: TrapState }[] {
    return this.own.map(({ iteration, state }) => ({ iteration, state }));
  }

  /** Iterations at which the state rose to `warning` or worse. */
  get alarms(): number[] {
    const { own } = this;
    const alarming = own.map(({ state }) => isAlarm(state));
    return own.flatMap(({ iteration }, i) => (alarming[i] && !alarming[i - 1] ? iteration : []));
  }

  /** Returns null before the first iteration with episodes. */
  view(): EchoTrap | null {
    const { own } = this;
    const last = own.at(-1);
    if (!last || !own.some(({ played }) => played)) return null;
    const placed = own.findLast(({ position }) => position)?.position;
    const { latches } = this.running;
    const lastHealthy = this.lastHealthy();
    const { thresholds } = this.calibration;
    const signals = this.signals();
    const indicators = indicatorsOf(last.state, signals);
    const measured = last.state !== 'healthy' || isMeasured(indicators);
    const path = own.flatMap(({ position }) => position?.point ?? []);
    const risk = riskOf(latches, thresholds);
    // The collapse rate was measured with the shipped thresholds, from checkpoints before a collapse.
    const hasRate = this.calibration.about.source === 'shipped' && last.state !== 'collapsed';
    return {
      state: measured ? last.state : 'unmeasured',
      since: last.since,
      iteration: last.iteration,
      summary: measured
        ? stateSummary(
            last.state,
            signals,
            last.iteration >= (this.config?.iterations ?? Number.POSITIVE_INFINITY),
            clearsAfter(last.state, thresholds.calm_for),
          )
        : whyUnmeasured(indicators, own.filter(({ played }) => played).length),
      why: strongestEvidence(last.state, signals),
      risk,
      collapseRate: risk !== null && hasRate ? collapseRateOf(risk) : null,
      riskLimits: { warn: warnRisk, clear: clearRisk, calmFor: thresholds.calm_for },
      warned: this.running.warned,
      riskHistory: thinned(
        own.flatMap(({ iteration, risk, state }) => (risk === null ? [] : { iteration, risk, alarm: isAlarm(state) })),
      ),
      lastHealthy,
      indicators,
      map: {
        regime: last.regime,
        namedBy: last.namedBy,
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

  /** Evaluates all indices from `index` again. */
  private evaluateFrom(index: number): TrapAlert[] {
    let from = index;
    if (from < this.results.length || this.snapshots.size === 0) from = this.restoreBefore(index);
    const fresh: TrapAlert[] = [];
    for (let i = from; i < this.track.length; i += 1) {
      if (i === this.inherited) resetHysteresis(this.running);
      if (i % snapshotEvery === 0) this.snapshots.set(i, JSON.stringify(this.running));
      const result = this.evaluate(i);
      this.results.push(result);
      if (!result.alert || this.announced.has(result.alert.id)) continue;
      this.announced.add(result.alert.id);
      fresh.push(result.alert);
    }
    return fresh;
  }

  private restoreBefore(index: number): number {
    const from = index - (index % snapshotEvery);
    const snapshot = this.snapshots.get(from);
    this.running = snapshot ? (JSON.parse(snapshot) as Running) : newRunning();
    const start = snapshot ? from : 0;
    this.results.length = start;
    for (const key of this.snapshots.keys()) if (key > start) this.snapshots.delete(key);
    return start;
  }

  private evaluate(index: number): IterationResult {
    const { track, facts, running } = this;
    const { thresholds } = this.calibration;
    const iteration = track.iterations[index]!;
    const { latches, standing } = running;
    const unchanged = { iteration, state: standing.state, since: standing.since, alert: null };
    if (!track.isPlayed(index))
      return {
        ...unchanged,
        played: false,
        regime: 'unknown',
        namedBy: 'state',
        position: null,
        risk: null,
        clear: true,
      };
    const outcome = followOutcome(track, index, thresholds, facts, running.outcome);
    const { detectors: own } = thresholds;
    const view: View = { track, index, iteration, facts, parameters: thresholds, thresholds: own, outcome };
    readSignals(view, latches);
    const risk = riskOf(latches, thresholds);
    const level = advance(
      standing,
      targetOf(standing.state, latches, outcome, iteration, risk, thresholds),
      iteration,
      thresholds.calm_for,
    );
    if (!isAlarm(standing.state)) running.warned = null;
    else running.warned ??= { iteration, risk };
    const position = positionOf(view, latches);
    const { regime, namedBy } = regimeOf(position?.point ?? null, latches, standing.state);
    const clear =
      !isAlarm(standing.state) &&
      (risk ?? 0) < watchRisk &&
      !detectors.some((each, i) => isSevere(each) && isActive(latches[i]!));
    const { state, since } = standing;
    const result: IterationResult = {
      iteration,
      state,
      since,
      regime,
      namedBy,
      position,
      risk,
      played: true,
      clear,
      alert: null,
    };
    if (level && index >= this.inherited) result.alert = this.alertOf(level, result);
    return result;
  }

  private alertOf(level: TrapLevel, { iteration, state, regime }: IterationResult): TrapAlert {
    const signals = this.signals();
    const main = mainSignal(state, signals);
    const kind = `echo_trap_${level === 'watch' ? state : level}`;
    const counting = signals.filter(({ contribution }) => contribution > 0);
    const starts = (counting.length > 0 ? counting : signals).flatMap(({ since }) => since ?? []);
    return {
      id: createHash('sha256')
        .update(JSON.stringify([kind, iteration]))
        .digest('hex')
        .slice(0, 32),
      kind,
      severity: level === 'watch' ? 'notice' : level === 'warning' ? 'warning' : 'critical',
      iteration,
      message: alertMessage(state, signals),
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

  private signals(): TrapSignal[] {
    const { thresholds } = this.calibration;
    const { latches } = this.running;
    return shownSignals(latches, contributionsOf(latches, thresholds), {
      parameters: thresholds,
      thresholds: thresholds.detectors,
    });
  }

  /** The latest iteration to roll back to: without an alarm or other evidence of collapse, and before its reasoning lost variety. */
  private lastHealthy(): number | null {
    const { own } = this;
    // Lost variety does not return, so the run must go back to a checkpoint before the loss.
    const isVaried = losesVariety(this.running.standing.state) ? isCalm : () => true;
    return own.findLast(({ clear, state }) => clear && isVaried(state))?.iteration ?? this.start;
  }

  /** The iteration a fork starts from, if its parents are known. */
  private get start(): number | null {
    return this.inherited > 0 ? this.track.iterations[this.inherited - 1]! : null;
  }

  private get own(): readonly IterationResult[] {
    return this.inherited > 0 ? this.results.slice(this.inherited) : this.results;
  }
}

const isSevere = ({ stage, regime }: Detector) => stage !== 'early' || regime === 'chaos';
const isActive = ({ on, hot }: Latch) => on || hot > 0;

const newRunning = (): Running => ({
  latches: newLatches(),
  outcome: newOutcomeMemory(),
  standing: newStanding(),
  warned: null,
});

/** Resets the state to healthy, because a fork inherits its parents' baselines but not their state. */
function resetHysteresis(running: Running): void {
  for (const [i, latch] of newLatches().entries())
    Object.assign(running.latches[i]!, latch, { memory: running.latches[i]!.memory });
  running.standing = newStanding();
  running.warned = null;
}

/** Returns whether a configuration has the sections that advice reads. */
export const isComplete = (config: unknown): config is RunConfig =>
  ['start', 'optimizer', 'policy_loss', 'critic', 'kl', 'filter', 'rollout', 'environments'].every(
    (part) => typeof (config as Record<string, unknown> | null)?.[part] === 'object',
  );

/** Returns at most {@link longestHistory} evenly spaced entries, including the latest. */
function thinned<T>(entries: readonly T[]): T[] {
  const step = Math.ceil(entries.length / longestHistory);
  return entries.filter((_, i) => (entries.length - 1 - i) % step === 0);
}
