import type { ChildProcess } from 'node:child_process';

/**
 * Ends a child process that may not have been started. Without a process of its own it must be sent nothing: until its `error` is told of, Node 24 sends the signal to whatever number
 * its memory holds, some other process or 0, which is every process of our own group.
 */
export function endChild(child: ChildProcess): void {
  if (child.pid !== undefined) child.kill();
}
