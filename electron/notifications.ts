import type { IpcMain, Notification } from 'electron';
import type { NotificationText } from '../core/contract/notification.ts';
import { notificationChoice, type Preferences } from './preferences.ts';
import { isOwnFrame } from './security.ts';

interface Host {
  /** Whether the window has focus. */
  inFront(): boolean;
  /** Brings the app to the front, at a page. */
  show(page: string): void;
}

/** Returns a function that shows notifications while no window has focus, unless turned off. A click opens the run. */
export function notifier(
  Shown: typeof Notification,
  preferences: Preferences,
  { inFront, show }: Host,
): (text: NotificationText) => void {
  /** Referenced until closed: a garbage-collected notification gets no click events. */
  const shown = new Set<Notification>();
  return ({ runId, title, body }) => {
    if (preferences.notifications === 'off' || inFront() || !Shown.isSupported()) return;
    const notification = new Shown({ title, body });
    shown.add(notification);
    notification.on('close', () => shown.delete(notification));
    notification.on('click', () => {
      shown.delete(notification);
      show(`#/run/${runId}`);
    });
    notification.show();
  };
}

/** Saves the page's choice, for use without a window. */
export function keepNotificationChoice(ipc: IpcMain, preferences: Preferences): void {
  ipc.on('starpo-notifications', (event, value: unknown) => {
    const choice = isOwnFrame(event.senderFrame) ? notificationChoice.safeParse(value).data : undefined;
    if (choice && choice !== preferences.notifications) preferences.notifications = choice;
  });
}
