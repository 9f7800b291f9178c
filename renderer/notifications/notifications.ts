import { create } from 'zustand';
import type { Notifier } from '../../core/contract/bridge.ts';
import type { Alert, RunStatus, RunSummary } from '../../core/contract/contract.ts';
import type { NotificationText } from '../../core/contract/notification.ts';
import type { Api } from '../api/api.ts';
import { percent } from '../components/format.ts';
import { isLive, successOf } from '../components/run-facts.ts';
import { navigate } from '../router.ts';
import { useApp } from '../stores/app-store.ts';

/** `unsupported`: this browser has none; `blocked`: the person, or the browser for them, said no. */
export type Permission = 'unsupported' | 'blocked' | 'off' | 'on';

const storageKey = 'starpo-notifications';

/** Electron's, through the preload; a browser has the Notification API instead. */
const desktop = (): Notifier | undefined => (window as { starpo?: Notifier }).starpo;

function present(): Permission {
  const chosen = localStorage.getItem(storageKey);
  if (desktop()) return chosen === 'off' ? 'off' : 'on';
  if (!('Notification' in window)) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && chosen === 'on' ? 'on' : 'off';
}

interface Notifications {
  permission: Permission;
  /** As a person asks for it: only then is a browser asked whether it may. */
  turn: (on: boolean) => Promise<void>;
}

export const useNotifications = create<Notifications>()((set) => ({
  permission: 'off',
  turn: async (on) => {
    localStorage.setItem(storageKey, on ? 'on' : 'off');
    if (on && !desktop() && 'Notification' in window) await Notification.requestPermission();
    set({ permission: present() });
  },
}));

/** Tells of alarms and of runs that have ended while the window isn't in front, until the returned function is called. */
export function notifyOfAlarms(api: Pick<Api, 'on'>): () => void {
  useNotifications.setState({ permission: present() });
  const told = new Set<string>();
  /** Runs that train, as far as is known: what has ended before is no news. */
  const live = new Set<string>();
  const stops = [
    api.on('run', (run) => {
      const ended = !isLive(run.status) && live.delete(run.id);
      if (isLive(run.status)) live.add(run.id);
      const title = ended ? endTitles[run.status] : undefined;
      if (title && mayTell()) show(run.id, `${run.id} ${run.status}`, title, endWords(run));
    }),
    api.on('alerts', ({ runId, alerts }) => {
      const alarm = newAlarm(alerts);
      // Of a run that has ended, as of one that was made elsewhere, alarms are found when it is taken in.
      if (!alarm || !isLive(statusOf(runId))) return;
      // Runs that go wrong alike have alerts with the same id, and one that was taken back may come again.
      const key = `${runId} ${alarm.id} ${alarm.raisedAt}`;
      if (told.has(key)) return;
      told.add(key);
      if (mayTell()) showAlarm(runId, alarm);
    }),
    desktop()?.onOpen((runId) => navigate({ page: 'run', runId })) ?? (() => {}),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** The alarm whose raising is the newest change; what is older was told of before, or when nobody looked. */
function newAlarm(alerts: readonly Alert[]): Alert | null {
  const newest = alerts.reduce<Alert | null>(
    (last, alert) => (!last || alert.changedAt >= last.changedAt ? alert : last),
    null,
  );
  return newest?.state === 'raised' && newest.level !== null && newest.level !== 'watch' ? newest : null;
}

const statusOf = (runId: string): RunStatus =>
  useApp.getState().runs?.find(({ id }) => id === runId)?.status ?? 'created';

const mayTell = () => useNotifications.getState().permission === 'on' && !inFront();

const inFront = () => document.visibilityState === 'visible' && document.hasFocus();

const titles: Record<NonNullable<Alert['level']>, string> = {
  watch: 'Echo Trap: watch',
  warning: 'Echo Trap: warning',
  collapsing: 'Echo Trap: the run is collapsing',
  collapsed: 'Echo Trap: the run has collapsed',
};

function showAlarm(runId: string, { id, level, message, iteration }: Alert): void {
  const name = useApp.getState().runs?.find((run) => run.id === runId)?.name ?? 'A run';
  show(runId, `${runId} ${id}`, titles[level ?? 'warning'], `${name}, iteration ${iteration}. ${message}`);
}

/** Ends that nobody asked for just now. */
const endTitles: Partial<Record<RunStatus, string>> = {
  completed: 'Training is complete',
  failed: 'Training has failed',
  interrupted: 'Training was interrupted',
};

function endWords(run: RunSummary): string {
  const { evaluation } = successOf(run);
  const place = `${run.name}, iteration ${run.iteration} of ${run.iterations}.`;
  if (run.failure) return `${place} ${run.failure.message}`;
  return evaluation === undefined ? place : `${place} Success ${percent(evaluation)}.`;
}

/** `tag`: of several tabs with the same news, one notification stays. */
function show(runId: string, tag: string, title: string, body: string): void {
  const bridge = desktop();
  if (bridge) {
    const text: NotificationText = { runId, title, body: body.slice(0, 500) };
    bridge.notify(JSON.stringify(text));
    return;
  }
  const notification = new Notification(title, { body, tag });
  notification.onclick = () => {
    focus();
    navigate({ page: 'run', runId });
    notification.close();
  };
}
