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

/** Shows notifications while no window has focus, unless turned off. A click opens the run. */
export class Notifications {
  private readonly Shown: typeof Notification;
  private readonly preferences: Preferences;
  private readonly host: Host;
  /** Referenced until closed: a garbage-collected notification gets no click events. */
  private readonly shown = new Set<Notification>();

  constructor(Shown: typeof Notification, preferences: Preferences, host: Host) {
    this.Shown = Shown;
    this.preferences = preferences;
    this.host = host;
  }

  notify({ runId, title, body }: NotificationText): void {
    if (this.preferences.notifications === 'off' || this.host.inFront() || !this.Shown.isSupported()) return;
    const notification = new this.Shown({ title, body });
    this.shown.add(notification);
    notification.on('close', () => this.shown.delete(notification));
    notification.on('click', () => {
      this.shown.delete(notification);
      this.host.show(`#/run/${runId}`);
    });
    notification.show();
  }
}

/** Saves the page's choice, for use without a window. */
export function keepNotificationChoice(ipc: IpcMain, preferences: Preferences): void {
  ipc.on('starpo-notifications', (event, value: unknown) => {
    const choice = isOwnFrame(event.senderFrame) ? notificationChoice.safeParse(value).data : undefined;
    if (choice && choice !== preferences.notifications) preferences.notifications = choice;
  });
}
