import { type FSWatcher, watch } from 'node:fs';

/** Changes that come together are taken together. */
const gathering = 50;

/**
 * Calls back soon after a change in a folder. Where the system can't watch (network disks, too many watches) it never calls:
 * callers must also poll.
 */
export class FolderWatch {
  private watcher: FSWatcher | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(folder: string, changed: () => void) {
    try {
      this.watcher = watch(folder, { persistent: false }, () => {
        this.timer ??= setTimeout(() => {
          this.timer = null;
          changed();
        }, gathering);
      });
      this.watcher.on('error', () => this.close());
    } catch {
      this.watcher = null;
    }
  }

  close(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.watcher?.close();
    this.watcher = null;
  }
}
