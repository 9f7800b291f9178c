import { type FSWatcher, watch } from 'node:fs';

/** Delay (ms) after a change, so that changes in quick succession cause one call. */
const delay = 50;

/**
 * Calls `onChange` soon after a change in a folder. It never does if the system can't watch (network disks, too many watches):
 * callers must also poll.
 */
export class FolderWatch {
  private watcher: FSWatcher | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(folder: string, onChange: () => void) {
    try {
      this.watcher = watch(folder, { persistent: false }, () => {
        this.timer ??= setTimeout(() => {
          this.timer = null;
          onChange();
        }, delay);
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
