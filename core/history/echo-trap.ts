import type { EchoTrap, TrapBrief } from '../contract/contract.ts';
import { asDiskFull } from '../contract/failure.ts';
import type { Calibration } from '../echo-trap/calibration.ts';
import { Monitor, type TrapAlert } from '../echo-trap/monitor.ts';
import type { Point, TrackPoint } from '../echo-trap/track.ts';
import { isNewer } from '../run-config/validate.ts';
import { appendAnnotation } from '../run-directory/annotations.ts';
import { measured } from '../run-directory/meaning.ts';
import { runFolder } from '../run-directory/names.ts';
import { readAlerts, takeAnnotations } from './annotations.ts';
import type { HistoryDatabase } from './database.ts';
import { configOf, readForkBaseline } from './fork-baseline.ts';
import { type StoredEvent, storedMeaning } from './queries.ts';
import { getRun, type RunRow } from './runs-table.ts';
import { prepared, preparedValue } from './statements.ts';

/** Monitors of the runs that were looked at last: another look at one of these takes only what is new. */
const keptMonitors = 16;

export interface Judged {
  /** Whether the monitor has something new to say. */
  judged: boolean;
  /** Whether alerts were raised. */
  raised: boolean;
  /** Why alerts couldn't be written down, or null. */
  problem: string | null;
}

interface Followed {
  monitor: Monitor;
  /** The last event that the monitor has processed. */
  seq: number;
}

/**
 * Runs the Echo Trap monitor on the newly ingested part of a run and writes its alerts to the run's annotations, but only those that still apply at
 * the end of the journal. Alerts have stable ids, so a crash or a rebuild raises none twice.
 */
export class Judge {
  private readonly database: HistoryDatabase;
  private readonly home: string;
  private readonly calibration: Calibration | undefined;
  private readonly followed = new Map<string, Followed>();

  constructor(database: HistoryDatabase, home: string, calibration?: Calibration) {
    this.database = database;
    this.home = home;
    this.calibration = calibration;
  }

  judge(runId: string): Judged {
    const { database } = this;
    const row = getRun(database, runId);
    const known = judgedUpTo(database, runId);
    if (!row || known === row.last_seq || !isJudged(row, this.home))
      return { judged: false, raised: false, problem: null };
    const followed = this.follow(runId, known);
    const before = followed.monitor.alerts;
    const news = tell(database, runId, followed, row.last_seq);
    if (!news && known >= 0) {
      prepared(database, 'UPDATE echo_trap SET seq = ? WHERE run = ?').run(row.last_seq, runId);
      return { judged: false, raised: false, problem: null };
    }
    const stood = before.filter(({ iteration }) => iteration <= (news?.rewoundTo ?? 0)).map(({ id }) => id);
    const fresh = followed.monitor.alerts.filter(({ id }) => !stood.includes(id));
    const { raised, problem } = this.raise(runId, fresh);
    keepStanding(database, runId, followed.monitor.view(), row.last_seq);
    return { judged: true, raised, problem };
  }

  /** Throws `disk_full`: what had no room is found again at the next look. */
  private raise(runId: string, alerts: readonly TrapAlert[]): Pick<Judged, 'raised' | 'problem'> {
    if (alerts.length === 0) return { raised: false, problem: null };
    const known = readAlerts(this.database, runId).map(({ id }) => id);
    const fresh = alerts.filter(({ id }) => !known.includes(id));
    const folder = runFolder(this.home, runId);
    try {
      for (const { id, ...alert } of fresh)
        appendAnnotation(folder, { type: 'alert', alert: id, state: 'raised', ...alert });
      return { raised: fresh.length > 0 && takeAnnotations(this.database, runId, folder), problem: null };
    } catch (error) {
      if (asDiskFull(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      return { raised: false, problem: `Its alerts can't be saved: ${reason}` };
    }
  }

  /** Returns the monitor's latest view of a run, or null if it was not judged. */
  view(runId: string): EchoTrap | null {
    const judged = judgedUpTo(this.database, runId);
    return judged < 0 ? null : this.follow(runId, judged).monitor.view();
  }

  /** Returns {@link Monitor.forkBaseline} of the judged part of a run. */
  forkBaseline(runId: string, iteration: number): TrackPoint[] {
    const judged = judgedUpTo(this.database, runId);
    return judged < 0 ? [] : this.follow(runId, judged).monitor.forkBaseline(iteration);
  }

  /** Drops a run's monitor, because its history was rebuilt. */
  forget(runId: string): void {
    this.followed.delete(runId);
  }

  /** Returns the run's monitor with all events judged before; it raises no alert for these again. */
  private follow(runId: string, judged: number): Followed {
    const known = this.followed.get(runId);
    const followed = known?.seq === judged ? known : newlyFollowed(this.home, runId, this.calibration);
    if (followed !== known) tell(this.database, runId, followed, judged);
    this.followed.delete(runId);
    this.followed.set(runId, followed);
    for (const oldest of this.followed.keys()) {
      if (this.followed.size <= keptMonitors) break;
      this.followed.delete(oldest);
    }
    return followed;
  }
}

/** Computes the monitor's view of a run without storing it, for a read-only history. Returns null if the run is not judged. */
export function judgeAnew(
  database: HistoryDatabase,
  home: string,
  runId: string,
  calibration?: Calibration,
): EchoTrap | null {
  const row = getRun(database, runId);
  if (!row || !isJudged(row, home)) return null;
  const followed = newlyFollowed(home, runId, calibration);
  tell(database, runId, followed, row.last_seq);
  return followed.monitor.view();
}

/** Returns the state of a run and since when, or null if it was not judged. */
export function readTrapBrief(database: HistoryDatabase, runId: string): TrapBrief | null {
  const brief = prepared<[string], TrapBrief>(
    database,
    'SELECT state, since FROM echo_trap WHERE run = ? AND state IS NOT NULL',
  ).get(runId);
  return brief ?? null;
}

/** Excludes warm starts, which train on demonstrations, and runs of newer versions, because judging writes alerts into the run. */
const isJudged = ({ id, task }: RunRow, home: string) =>
  task !== 'warm_start' && !isNewer(configOf(home, id));

const judgedUpTo = (database: HistoryDatabase, runId: string): number =>
  preparedValue<[string], number>(database, 'SELECT seq FROM echo_trap WHERE run = ?').get(runId) ?? -1;

function keepStanding(database: HistoryDatabase, runId: string, view: EchoTrap | null, seq: number): void {
  prepared(database, 'INSERT OR REPLACE INTO echo_trap (run, seq, state, since) VALUES (?, ?, ?, ?)').run(
    runId,
    seq,
    view?.state ?? null,
    view?.since ?? null,
  );
}

const newlyFollowed = (home: string, runId: string, calibration?: Calibration): Followed => ({
  monitor: new Monitor(configOf(home, runId), calibration, readForkBaseline(home, runId)),
  seq: -1,
});

/**
 * Passes a run's stored metrics up to an event to its monitor, including restarts of the trainer: `rewoundTo` is the earliest iteration that the
 * trainer returned to. Returns null if nothing was new.
 */
function tell(
  database: HistoryDatabase,
  runId: string,
  followed: Followed,
  upTo: number,
): { rewoundTo: number } | null {
  let rewoundTo = Number.POSITIVE_INFINITY;
  let told = false;
  const events = prepared<[string, number, number], Pick<StoredEvent, 'type' | 'body'>>(
    database,
    `SELECT type, body FROM events WHERE run = ? AND seq > ? AND seq <= ?
     AND type IN ('started', 'iteration', 'evaluation') ORDER BY seq`,
  );
  let points: Point[] = [];
  for (const event of events.iterate(runId, followed.seq, upTo)) {
    const { begins, metrics } = storedMeaning(event);
    told = true;
    if (metrics) points.push({ iteration: metrics.iteration, metrics: measured(metrics) });
    if (!begins) continue;
    followed.monitor.addAll(points);
    points = [];
    followed.monitor.rewind(begins.after);
    rewoundTo = Math.min(rewoundTo, begins.after);
  }
  followed.monitor.addAll(points);
  followed.seq = upTo;
  return told ? { rewoundTo } : null;
}
