import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { Failure } from '../contract/failure.ts';

/** Detects that a folder was moved, replaced, deleted or unmounted while this process uses it by its path. */
export class FolderGuard {
  private readonly folder: string;
  /** An open folder keeps its inode number, also on network disks. Null if the system can't open folders. */
  private descriptor: number | null = null;

  /** The folder must exist. */
  constructor(folder: string) {
    this.folder = folder;
    try {
      this.descriptor = openSync(folder, 'r');
    } catch {}
  }

  /** Returns `data_folder_moved`, or null if the path still leads to the same folder or can't be checked. */
  check(): Failure | null {
    return this.hasMoved() ? movedFailure(this.folder) : null;
  }

  close(): void {
    if (this.descriptor !== null) closeSync(this.descriptor);
    this.descriptor = null;
  }

  private hasMoved(): boolean {
    if (this.descriptor === null) return false;
    try {
      const now = statSync(this.folder, { bigint: true });
      const { dev, ino } = fstatSync(this.descriptor, { bigint: true });
      return now.dev !== dev || now.ino !== ino;
    } catch (error) {
      return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    }
  }
}

const movedFailure = (folder: string) =>
  new Failure(
    'data_folder_moved',
    `The data folder ${folder} was moved, replaced or unmounted.`,
    'Restart with its new location as --home or STARPO_HOME, or move it back. Runs that write to the old path fail.',
  );
