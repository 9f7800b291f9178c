import { create } from 'zustand';
import type { Notifier } from '../../core/contract/bridge.ts';
import { News, type NotificationText } from '../../core/contract/notification.ts';
import type { Api } from '../api/api.ts';
import { navigate } from '../base/router.ts';
import { useApp } from '../stores/app-store.ts';

/** `unsupported`: this browser has none; `blocked`: the person, or the browser for them, said no. */
export type Permission = 'unsupported' | 'blocked' | 'off' | 'on';

const storageKey = 'starpo-notifications';

/** The desktop app tells of everything itself, without a window too; a browser has the Notification API instead. */
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
    desktop()?.chooseNotifications(on ? 'on' : 'off');
    if (on && !desktop() && 'Notification' in window) await Notification.requestPermission();
    set({ permission: present() });
  },
}));

/** Tells of alarms and of runs that have ended while the window isn't in front, until the returned function is called. */
export function notifyOfAlarms(api: Pick<Api, 'on'>): () => void {
  const permission = present();
  useNotifications.setState({ permission });
  const bridge = desktop();
  if (bridge) {
    bridge.chooseNotifications(permission === 'off' ? 'off' : 'on');
    return () => {};
  }
  const news = new News();
  const runOf = (runId: string) => useApp.getState().runs?.find(({ id }) => id === runId);
  const stops = [
    api.on('run', (run) => tell(news.ofRun(run))),
    api.on('alerts', ({ runId, alerts }) => tell(news.ofAlerts(runOf(runId), alerts))),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

const inFront = () => document.visibilityState === 'visible' && document.hasFocus();

/** Of several tabs with the same news, one notification stays. */
function tell(text: NotificationText | null): void {
  if (!text || inFront() || useNotifications.getState().permission !== 'on') return;
  const { runId, tag, title, body } = text;
  const notification = new Notification(title, { body, tag });
  notification.onclick = () => {
    focus();
    navigate({ page: 'run', runId });
    notification.close();
  };
}
