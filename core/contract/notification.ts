import type { Alert, KnownRunStatus, RunSummary, TrapLevel } from './contract.ts';
import { knownWord } from './open-words.ts';
import { evaluatedSuccess, isLive } from './run-facts.ts';

/** What a person is told of a run while they look elsewhere. */
export interface NotificationText {
  runId: string;
  /** The same for the same news, wherever it is told. */
  tag: string;
  title: string;
  body: string;
}

const titles: Record<TrapLevel, string> = {
  watch: 'Echo Trap: watch',
  warning: 'Echo Trap: warning',
  collapsing: 'Echo Trap: the run is collapsing',
  collapsed: 'Echo Trap: the run has collapsed',
};

const titleOf = ({ level }: Alert) => knownWord(titles, level ?? 'warning') ?? titles.warning;

/** Ends that nobody asked for just now. */
const endTitles: Partial<Record<KnownRunStatus, string>> = {
  completed: 'Training is complete',
  failed: 'Training has failed',
  interrupted: 'Training was interrupted',
};

/** Longest text that a desktop is given. */
const longest = 500;

/** Finds in core's notices what is worth a notification: alarms of runs that train, and their ends. Everything is news once. */
export class News {
  private readonly told = new Set<string>();
  /** Runs that train, as far as is known: what has ended before is no news. */
  private readonly live = new Set<string>();

  /** Of a notice `run`. */
  ofRun(run: RunSummary): NotificationText | null {
    const ended = !isLive(run.status) && this.live.delete(run.id);
    if (isLive(run.status)) this.live.add(run.id);
    const title = ended ? knownWord(endTitles, run.status) : undefined;
    if (!title) return null;
    return { runId: run.id, tag: `${run.id} ${run.status}`, title, body: endWords(run).slice(0, longest) };
  }

  /** Of a notice `alerts`; of a run that has ended, as of one that was made elsewhere, alarms are found when it is taken in. */
  ofAlerts(run: RunSummary | undefined, alerts: readonly Alert[]): NotificationText | null {
    const alarm = newAlarm(alerts);
    if (!alarm || !run || !isLive(run.status)) return null;
    // Runs that go wrong alike have alerts with the same id, and one that was taken back may come again.
    const key = `${run.id} ${alarm.id} ${alarm.raisedAt}`;
    if (this.told.has(key)) return null;
    this.told.add(key);
    const body = `${run.name}, iteration ${alarm.iteration}. ${alarm.message}`.slice(0, longest);
    return { runId: run.id, tag: `${run.id} ${alarm.id}`, title: titleOf(alarm), body };
  }
}

/** Alerts that are raised so close together, in ms, were found in one go. */
const together = 1000;

/** The gravest alarm that was raised with the newest change, or just before it; what is older was told of before, or when nobody looked. */
function newAlarm(alerts: readonly Alert[]): Alert | null {
  const newest = Math.max(...alerts.map(({ changedAt }) => changedAt));
  return alerts.reduce<Alert | null>((gravest, alert) => {
    const fresh = alert.state === 'raised' && alert.raisedAt >= newest - together;
    return fresh && rankOf(alert) > rankOf(gravest) ? alert : gravest;
  }, null);
}

const alarms: readonly Alert['level'][] = ['warning', 'collapsing', 'collapsed'];
/** Of one that is no alarm, and of none: -1. */
const rankOf = (alert: Alert | null) => alarms.indexOf(alert?.level ?? null);

function endWords(run: RunSummary): string {
  const success = evaluatedSuccess(run.latest);
  const place = `${run.name}, iteration ${run.iteration} of ${run.iterations}.`;
  if (run.failure) return `${place} ${run.failure.message}`;
  return success === undefined ? place : `${place} Success ${(success * 100).toFixed(1)} %.`;
}
