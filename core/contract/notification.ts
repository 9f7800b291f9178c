import { alertTitle } from './alert-words.ts';
import type { Alert, KnownRunStatus, RunSummary, TrapLevel } from './contract.ts';
import { percent } from './numbers.ts';
import { knownWord } from './open-words.ts';
import { evaluatedSuccess, isLive } from './run-facts.ts';
import { alarmStates } from './trap-words.ts';

/** A desktop notification about a run. */
export interface NotificationText {
  runId: string;
  /** Equal tags replace each other. */
  tag: string;
  title: string;
  body: string;
}

const titles: Record<TrapLevel, string> = {
  watch: 'Echo Trap: watch',
  warning: 'Echo Trap: collapse is near',
  collapsing: 'Echo Trap: the run is collapsing',
  collapsed: 'Echo Trap: the run has collapsed',
};

const titleOf = (alert: Alert) =>
  alert.level === null ? alertTitle(alert) : (knownWord(titles, alert.level) ?? titles.warning);

/** Titles of the ends that the user did not request. */
const endTitles: Partial<Record<KnownRunStatus, string>> = {
  completed: 'Training completed',
  failed: 'Training failed',
  interrupted: 'Training was interrupted',
};

/** Limit on the length of the body, in characters. */
const longest = 500;

/** Finds notifications in the notices: alarms and ends of running runs, each once. */
export class NotificationFilter {
  private readonly sent = new Set<string>();
  /** Running runs; runs that ended earlier cause no notification. */
  private readonly live = new Set<string>();

  /** Returns the notification for a `run` notice: the end of a running run, once. */
  ofRun(run: RunSummary): NotificationText | null {
    const ended = !isLive(run.status) && this.live.delete(run.id);
    if (isLive(run.status)) this.live.add(run.id);
    if (!ended) return null;
    const title = run.stopReason === null ? knownWord(endTitles, run.status) : 'Training stopped early';
    if (!title) return null;
    return { runId: run.id, tag: `${run.id} ${run.status}`, title, body: endWords(run).slice(0, longest) };
  }

  /** Handles the notice `alerts`. Ended or imported runs raise alerts on ingestion, which are ignored. */
  ofAlerts(run: RunSummary | undefined, alerts: readonly Alert[]): NotificationText | null {
    const alarm = newAlarm(alerts);
    if (!alarm || !run || !isLive(run.status)) return null;
    // Alert ids repeat across runs, and a withdrawn alert may be raised again.
    const key = `${run.id} ${alarm.id} ${alarm.raisedAt}`;
    if (this.sent.has(key)) return null;
    this.sent.add(key);
    const body = `${run.name}, iteration ${alarm.iteration}. ${alarm.message}`.slice(0, longest);
    return { runId: run.id, tag: `${run.id} ${alarm.id}`, title: titleOf(alarm), body };
  }
}

/** Alerts raised within this time, in ms, belong to the same ingestion. */
const together = 1000;

/** Returns the most severe alarm raised by the newest ingestion. */
function newAlarm(alerts: readonly Alert[]): Alert | null {
  const newest = Math.max(...alerts.map(({ changedAt }) => changedAt));
  return alerts.reduce<Alert | null>((gravest, alert) => {
    const fresh = alert.state === 'raised' && alert.raisedAt >= newest - together;
    return fresh && rankOf(alert) > rankOf(gravest) ? alert : gravest;
  }, null);
}

/** Returns the rank of an alert, or -1 if it is not an alarm. Only alerts of the monitor have a level. */
function rankOf(alert: Alert | null): number {
  if (alert && alert.level === null) return alert.severity === 'warning' || alert.severity === 'critical' ? 0 : -1;
  return alarmStates.indexOf(alert?.level ?? '');
}

function endWords(run: RunSummary): string {
  const success = evaluatedSuccess(run.latest);
  const place = `${run.name}, iteration ${run.iteration} of ${run.iterations}.`;
  const why = run.failure?.message ?? run.stopReason;
  if (why) return `${place} ${why}`;
  return success === undefined ? place : `${place} Success ${percent(success)}.`;
}
