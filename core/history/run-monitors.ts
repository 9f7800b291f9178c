import type { EchoTrap, TrapBrief } from '../contract/contract.ts';
import { asDiskFull, messageOf } from '../contract/failure.ts';
import type { Calibration } from '../echo-trap/calibration.ts';
import { Monitor, type TrapAlert } from '../echo-trap/monitor.ts';
import type { Point, TrackPoint } from '../echo-trap/track.ts';
import { isNewer } from '../run-config/upgrade.ts';
import { appendAnnotation } from '../run-directory/annotations.ts';
import { measured } from '../run-directory/meaning.ts';
import { runFolder } from '../run-directory/names.ts';
import { ingestAnnotations, readAlerts } from './annotations.ts';
import type { HistoryDatabase } from './database.ts';
import { type EnvironmentAlert, environmentAlerts } from './environment-alerts.ts';
import { configOf, readForkBaseline } from './fork-baseline.ts';
import { type StoredEvent, storedMeaning } from './queries.ts';
import { getRun, type RunRow } from './runs-table.ts';
import { prepared, preparedValue } from './statements.ts';

/**
 * Maximum number of iterations of all monitors in memory, at about a kilobyte per iteration. This suffices for two hundred running jobs. A monitor
 * that is not in memory must process all metrics of its run again.
 */
const maxIterations = 200_000;

interface MonitorUpdate {
  /** Whether the monitor's view changed. */
  trapChanged: boolean;
  /** Whether alerts were raised. */
  raised: boolean;
  /** Why alerts couldn't be saved, or null. */
  problem: string | null;
}

interface MonitoredRun {
  monitor: Monitor;
  /** The last event that the monitor has processed. */
  seq: number;
}

/**
 * Runs the Echo Trap monitor on the newly ingested part of a run and writes its alerts and those about environments to the run's annotations. Alerts
 * of the monitor must still apply at the end of the journal. Alerts have stable ids, so a crash or a rebuild raises none twice.
 */
export class RunMonitors {
  private readonly database: HistoryDatabase;
  private readonly home: string;
  private readonly calibration: Calibration | undefined;
  private readonly readOnly: boolean;
  /** Least recently used first. */
  private readonly monitored = new Map<string, MonitoredRun>();

  /** `readOnly`: writes no alerts into the run folders. */
  constructor(
    database: HistoryDatabase,
    home: string,
    { calibration, readOnly = false }: { calibration?: Calibration | undefined; readOnly?: boolean } = {},
  ) {
    this.database = database;
    this.home = home;
    this.calibration = calibration;
    this.readOnly = readOnly;
  }

  /** Processes new events of a run. */
  update(runId: string): MonitorUpdate {
    const { database } = this;
    const row = getRun(database, runId);
    const processed = processedSeq(database, runId);
    const unchanged = { trapChanged: false, raised: false, problem: null };
    if (!row || processed === row.last_seq) return unchanged;
    if (processed >= 0 && !hasStoredEvents(database, runId, processed)) {
      this.skip(runId, processed, row.last_seq);
      return unchanged;
    }
    if (!this.monitored.has(runId) && !isMonitored(row, this.home)) return unchanged;
    const run = this.monitoredRun(runId, processed);
    const before = run.monitor.alerts;
    const change = processEvents(database, runId, run, row.last_seq);
    const ofEnvironments = environmentAlerts(database, runId, processed, row.last_seq);
    if (!change && processed >= 0) {
      const result = this.raise(runId, ofEnvironments);
      storeSeq(database, runId, row.last_seq);
      return { trapChanged: false, ...result };
    }
    const earlier = before.filter(({ iteration }) => iteration <= (change?.rewoundTo ?? 0)).map(({ id }) => id);
    const fresh = run.monitor.alerts.filter(({ id }) => !earlier.includes(id));
    const { raised, problem } = this.raise(runId, [...fresh, ...ofEnvironments]);
    storeView(database, runId, run.monitor.view(), row.last_seq);
    return { trapChanged: true, raised, problem };
  }

  /** Marks the events up to `seq` as processed. Those after `processed` only report the progress of a phase, so none is stored. */
  private skip(runId: string, processed: number, seq: number): void {
    storeSeq(this.database, runId, seq);
    const run = this.monitored.get(runId);
    if (run?.seq === processed) run.seq = seq;
  }

  /** Throws `disk_full`; the next call raises the alerts again. */
  private raise(
    runId: string,
    alerts: readonly (TrapAlert | EnvironmentAlert)[],
  ): Pick<MonitorUpdate, 'raised' | 'problem'> {
    if (alerts.length === 0 || this.readOnly) return { raised: false, problem: null };
    const stored = readAlerts(this.database, runId).map(({ id }) => id);
    const fresh = alerts.filter(({ id }) => !stored.includes(id));
    const folder = runFolder(this.home, runId);
    try {
      for (const { id, ...alert } of fresh)
        appendAnnotation(folder, { type: 'alert', alert: id, state: 'raised', ...alert });
      return { raised: fresh.length > 0 && ingestAnnotations(this.database, runId, folder), problem: null };
    } catch (error) {
      if (asDiskFull(error)) throw error;
      const reason = messageOf(error);
      return { raised: false, problem: `Alerts can't be saved: ${reason}` };
    }
  }

  /** Returns the monitor's latest view of a run, or null if there is none. */
  view(runId: string): EchoTrap | null {
    const seq = processedSeq(this.database, runId);
    return seq < 0 ? null : this.monitoredRun(runId, seq).monitor.view();
  }

  /** Returns {@link Monitor.forkBaseline} of the processed part of a run. */
  forkBaseline(runId: string, iteration: number): TrackPoint[] {
    const seq = processedSeq(this.database, runId);
    return seq < 0 ? [] : this.monitoredRun(runId, seq).monitor.forkBaseline(iteration);
  }

  /** Drops a run's monitor, because its history was rebuilt. */
  forget(runId: string): void {
    this.monitored.delete(runId);
  }

  /** Returns the run's monitor after all events up to `seq`, whose alerts it does not raise again. */
  private monitoredRun(runId: string, seq: number): MonitoredRun {
    const cached = this.monitored.get(runId);
    const run = cached?.seq === seq ? cached : newMonitoredRun(this.home, runId, this.calibration);
    if (run !== cached) processEvents(this.database, runId, run, seq);
    this.monitored.delete(runId);
    this.monitored.set(runId, run);
    let iterations = 0;
    for (const [each, { monitor }] of [...this.monitored].reverse()) {
      iterations += monitor.length;
      if (each !== runId && iterations > maxIterations) this.monitored.delete(each);
    }
    return run;
  }
}

/** Computes the monitor's view of a run without storing it, for a read-only history. Returns null if the run is not monitored. */
export function computeTrap(
  database: HistoryDatabase,
  home: string,
  runId: string,
  calibration?: Calibration,
): EchoTrap | null {
  const row = getRun(database, runId);
  if (!row || !isMonitored(row, home)) return null;
  const run = newMonitoredRun(home, runId, calibration);
  processEvents(database, runId, run, row.last_seq);
  return run.monitor.view();
}

/** Returns the state of a run and since when, or null if the monitor has not processed it. */
export function readTrapBrief(database: HistoryDatabase, runId: string): TrapBrief | null {
  const brief = prepared<[string], TrapBrief>(
    database,
    'SELECT state, since FROM echo_trap WHERE run = ? AND state IS NOT NULL',
  ).get(runId);
  return brief ?? null;
}

/** Excludes warm starts, which train on demonstrations, and runs of newer versions, because the monitor writes alerts into the run. */
const isMonitored = ({ id, task }: RunRow, home: string) => task !== 'warm_start' && !isNewer(configOf(home, id));

const processedSeq = (database: HistoryDatabase, runId: string): number =>
  preparedValue<[string], number>(database, 'SELECT seq FROM echo_trap WHERE run = ?').get(runId) ?? -1;

/** Returns whether there are events after `seq`. Those about the progress of a phase are not stored. */
const hasStoredEvents = (database: HistoryDatabase, runId: string, seq: number): boolean =>
  prepared(database, 'SELECT 1 FROM events WHERE run = ? AND seq > ? LIMIT 1').get(runId, seq) !== undefined;

const storeSeq = (database: HistoryDatabase, runId: string, seq: number): void =>
  void prepared(database, 'UPDATE echo_trap SET seq = ? WHERE run = ?').run(seq, runId);

function storeView(database: HistoryDatabase, runId: string, view: EchoTrap | null, seq: number): void {
  prepared(database, 'INSERT OR REPLACE INTO echo_trap (run, seq, state, since) VALUES (?, ?, ?, ?)').run(
    runId,
    seq,
    view?.state ?? null,
    view?.since ?? null,
  );
}

const newMonitoredRun = (home: string, runId: string, calibration?: Calibration): MonitoredRun => ({
  monitor: new Monitor(configOf(home, runId), calibration, readForkBaseline(home, runId)),
  seq: -1,
});

/**
 * Passes a run's stored metrics up to an event to its monitor, including restarts of the trainer: `rewoundTo` is the earliest iteration that the
 * trainer returned to. Returns null if nothing was new.
 */
function processEvents(
  database: HistoryDatabase,
  runId: string,
  run: MonitoredRun,
  upTo: number,
): { rewoundTo: number } | null {
  const events = prepared<[string, number, number], Pick<StoredEvent, 'type' | 'body'>>(
    database,
    `SELECT type, body FROM events WHERE run = ? AND seq > ? AND seq <= ?
     AND type IN ('started', 'iteration', 'evaluation') ORDER BY seq`,
  ).iterate(runId, run.seq, upTo);
  let rewoundTo = Number.POSITIVE_INFINITY;
  let changed = false;
  /** Iteration that the next trainer resumes after; null at the end. */
  let resumedAfter: number | null = null;
  function* pointsOfTrainer(): Generator<Point> {
    resumedAfter = null;
    for (;;) {
      const { value: event, done } = events.next();
      if (done) return;
      const { begins, metrics } = storedMeaning(event);
      changed = true;
      if (metrics) yield { iteration: metrics.iteration, metrics: measured(metrics) };
      if (!begins) continue;
      resumedAfter = begins.after;
      return;
    }
  }
  for (;;) {
    run.monitor.addAll(pointsOfTrainer());
    if (resumedAfter === null) break;
    run.monitor.rewind(resumedAfter);
    rewoundTo = Math.min(rewoundTo, resumedAfter);
  }
  run.seq = upTo;
  return changed ? { rewoundTo } : null;
}
