import { Failure } from '../contract/failure.ts';
import type { QueueContent, QueueEntry } from '../run-sync/queue-file.ts';

/** Records the device of a run that is about to start. Returns false if the run has left the queue. */
export function claim({ runs }: QueueContent, runId: string, device: NonNullable<QueueEntry['device']>): boolean {
  const entry = runs.find(({ run }) => run === runId);
  if (entry) entry.device = device;
  return entry !== undefined;
}

/** Makes a claimed run wait again. */
export function release({ runs }: QueueContent, runId: string): void {
  const entry = runs.find(({ run }) => run === runId);
  if (entry) delete entry.device;
}

/** Moves a run from the queued to the started ones, if the queue has started it; else removes it. */
export function markStarted({ runs, started }: QueueContent, runId: string): void {
  const [entry] = take(runs, runId);
  if (!entry?.device) return;
  take(started, runId);
  started.push({ ...entry, device: entry.device });
}

/** Removes the entry of a run and returns it. */
export function take<Entry extends QueueEntry>(entries: Entry[], runId: string): Entry[] {
  const index = entries.findIndex(({ run }) => run === runId);
  return index < 0 ? [] : entries.splice(index, 1);
}

export function indexOf(entries: readonly QueueEntry[], runId: string): number {
  const index = entries.findIndex((entry) => entry.run === runId);
  if (index >= 0) return index;
  throw new Failure(
    'run_not_queued',
    `Run ${runId} is not in the queue.`,
    'List queued runs with `starpo queue` or on the Queue page.',
  );
}
