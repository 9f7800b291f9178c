import type { IpcMain, Notification, WebContents } from 'electron';
import { type NotificationText, notificationText } from '../core/contract/notification.ts';
import { isOwnFrame } from './security.ts';

interface Desk {
  /** Whether the person looks at the app. */
  inFront(): boolean;
  /** Brings the app to the front. */
  show(): void;
}

/**
 * Shows what the app's own page asks for, while its window isn't in front. A click brings it there and tells the page which run was meant.
 * Anything that is no {@link NotificationText} is dropped.
 */
export function showNotifications(ipc: IpcMain, Shown: typeof Notification, desk: Desk): void {
  /** Kept until they are gone: one that is collected hears no click. */
  const shown = new Set<Notification>();
  ipc.on('starpo-notify', (event, message: unknown) => {
    const text = isOwnFrame(event.senderFrame) ? parse(message) : null;
    if (!text || desk.inFront() || !Shown.isSupported()) return;
    const { title, body } = text;
    const notification = new Shown({ title, body });
    shown.add(notification);
    notification.on('close', () => shown.delete(notification));
    notification.on('click', () => {
      shown.delete(notification);
      desk.show();
      open(event.sender, text);
    });
    notification.show();
  });
}

function open(page: WebContents, { runId }: NotificationText): void {
  if (!page.isDestroyed()) page.send('starpo-open', runId);
}

function parse(message: unknown): NotificationText | null {
  if (typeof message !== 'string') return null;
  try {
    return notificationText.safeParse(JSON.parse(message)).data ?? null;
  } catch {
    return null;
  }
}
