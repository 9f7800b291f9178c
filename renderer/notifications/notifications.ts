import { create } from 'zustand';
import type { Notifier } from '../../core/contract/bridge.ts';
import { NotificationFilter, type NotificationText } from '../../core/contract/notification.ts';
import type { Api } from '../api/api.ts';
import { navigate } from '../base/router.ts';
import { useApp } from '../stores/app-store.ts';

/** `unsupported`: the browser has no notifications; `blocked`: the user or the browser denied permission. */
type Permission = 'unsupported' | 'blocked' | 'off' | 'on';

const storageKey = 'starpo-notifications';

/** The desktop app sends notifications itself, also without a window; a browser uses the Notification API. */
const desktop = (): Notifier | undefined => (window as { starpo?: Notifier }).starpo;

function currentPermission(): Permission {
  const chosen = localStorage.getItem(storageKey);
  if (desktop()) return chosen === 'off' ? 'off' : 'on';
  if (!('Notification' in window)) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && chosen === 'on' ? 'on' : 'off';
}

interface Notifications {
  permission: Permission;
  /** Turns notifications on or off. Requests the browser's permission, so call it from a user action. */
  setEnabled: (on: boolean) => Promise<void>;
}

export const useNotifications = create<Notifications>()((set) => ({
  permission: 'off',
  setEnabled: async (on) => {
    localStorage.setItem(storageKey, on ? 'on' : 'off');
    desktop()?.chooseNotifications(on ? 'on' : 'off');
    if (on && !desktop() && 'Notification' in window) await Notification.requestPermission();
    set({ permission: currentPermission() });
  },
}));

/** Sends notifications of warnings and ended runs while the window is in the background, until the returned function is called. */
export function notifyOfAlarms(api: Pick<Api, 'on'>): () => void {
  const permission = currentPermission();
  useNotifications.setState({ permission });
  const bridge = desktop();
  if (bridge) {
    bridge.chooseNotifications(permission === 'off' ? 'off' : 'on');
    return () => {};
  }
  const filter = new NotificationFilter();
  const runOf = (runId: string) => useApp.getState().runs?.find(({ id }) => id === runId);
  const stops = [
    api.on('run', (run) => notify(filter.ofRun(run))),
    api.on('alerts', ({ runId, alerts }) => notify(filter.ofAlerts(runOf(runId), alerts))),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

const isInForeground = () => document.visibilityState === 'visible' && document.hasFocus();

/** Sends a notification. The tag merges those of several tabs. */
function notify(text: NotificationText | null): void {
  if (!text || isInForeground() || useNotifications.getState().permission !== 'on') return;
  const { runId, tag, title, body } = text;
  const notification = new Notification(title, { body, tag });
  notification.onclick = () => {
    focus();
    navigate({ page: 'run', runId });
    notification.close();
  };
}
