import type { ChildProcess } from 'node:child_process';

/**
 * Ends a child process that may have failed to start. Without a pid, no signal may be sent: until `error` is emitted, Node 24 signals an
 * uninitialized pid, which may be another process or 0 (our whole process group).
 */
export function endChild(child: ChildProcess): void {
  if (child.pid !== undefined) child.kill();
}
