import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Ends a child process that may have failed to start. Without a pid, no signal may be sent: until `error` is emitted, Node 24 signals an
 * uninitialized pid, which may be another process or 0 (our whole process group).
 */
export function endChild(child: ChildProcess): void {
  if (child.pid !== undefined) child.kill();
}

/** Returns whether a process of this machine is running, including processes of other users. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  // A zombie has exited, but keeps its pid because its parent has not waited for it.
  return processState(pid) !== 'Z';
}

/** Returns the process state (R, S, D, T, Z, ...), or null if it is not available. */
export function processState(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.charAt(stat.lastIndexOf(')') + 2);
  } catch {
    return null;
  }
}
