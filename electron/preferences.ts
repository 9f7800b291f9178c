import { renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../core/base/folders.ts';
import { readJsonFile } from '../core/run-directory/parse-line.ts';

/** The action when the window closes during training. */
const closingChoice = z.enum(['keep', 'stop']);
type ClosingChoice = z.infer<typeof closingChoice>;

/** Whether to show desktop notifications. */
export const notificationChoice = z.enum(['on', 'off']);
type NotificationChoice = z.infer<typeof notificationChoice>;

const content = z.object({
  closing: closingChoice.nullable().catch(null),
  notifications: notificationChoice.catch('on'),
  dataFolder: z.string().min(1).nullable().catch(null),
});
type Content = z.infer<typeof content>;

/** The user's choices for closing, notifications and the data folder, in a file of the desktop app. An unreadable file means defaults. */
export class Preferences {
  private readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  get closing(): ClosingChoice | null {
    return this.read().closing;
  }

  /** Null asks again. */
  set closing(closing: ClosingChoice | null) {
    this.write({ ...this.read(), closing });
  }

  get notifications(): NotificationChoice {
    return this.read().notifications;
  }

  set notifications(notifications: NotificationChoice) {
    this.write({ ...this.read(), notifications });
  }

  get dataFolder(): string | null {
    return this.read().dataFolder;
  }

  /** Null uses the default folder. */
  set dataFolder(dataFolder: string | null) {
    this.write({ ...this.read(), dataFolder });
  }

  private read(): Content {
    return readJsonFile(content, this.path) ?? content.parse({});
  }

  private write(value: Content): void {
    makeFolder(dirname(this.path));
    const partial = `${this.path}.${process.pid}`;
    writeFileSync(partial, `${JSON.stringify(value)}\n`);
    renameSync(partial, this.path);
  }
}
