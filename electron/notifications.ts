import type { IpcMain, Notification } from 'electron';
import type { NotificationText } from '../core/contract/notification.ts';
import { notificationChoice, type Preferences } from './preferences.ts';
import { isOwnFrame } from './security.ts';

interface Desk {
  /** Whether the person looks at the app. */
  inFront(): boolean;
  /** Brings the app to the front, at a page. */
  show(page: string): void;
}

/** Tells of news while no window is in front, whether there is one or not, unless the person has turned that off. A click opens the run. */
export class Notifications {
  private readonly Shown: typeof Notification;
  private readonly preferences: Preferences;
  private readonly desk: Desk;
  /** Kept until they are gone: one that is collected hears no click. */
  private readonly shown = new Set<Notification>();

  constructor(Shown: typeof Notification, preferences: Preferences, desk: Desk) {
    this.Shown = Shown;
    this.preferences = preferences;
    this.desk = desk;
  }

  tell({ runId, title, body }: NotificationText): void {
    if (this.preferences.notifications === 'off' || this.desk.inFront() || !this.Shown.isSupported()) return;
    const notification = new this.Shown({ title, body });
    this.shown.add(notification);
    notification.on('close', () => this.shown.delete(notification));
    notification.on('click', () => {
      this.shown.delete(notification);
      this.desk.show(`#/run/${runId}`);
    });
    notification.show();
  }
}

/** Keeps what the app's own page says that the person has chosen, for when there is no page. */
export function keepNotificationChoice(ipc: IpcMain, preferences: Preferences): void {
  ipc.on('starpo-notifications', (event, said: unknown) => {
    const choice = isOwnFrame(event.senderFrame) ? notificationChoice.safeParse(said).data : undefined;
    if (choice && choice !== preferences.notifications) preferences.notifications = choice;
  });
}
