import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { checkpointsOf, isPinned } from '../run-directory/checkpoints.ts';
import { appendCommand } from '../run-directory/control.ts';
import { runFiles } from '../run-directory/names.ts';
import { parseLine } from '../run-directory/parse-line.ts';

/** Checkpoints to pin before and after the last healthy iteration. A signal may detect a problem that began before the newest of them. */
const pinsOnEachSide = 2;

/** Origin of a pin, in the arguments of its command; the trainer does not read it. */
const origin = 'monitor';

const pinLine = z.looseObject({
  command: z.enum(['pin', 'unpin']),
  args: z.looseObject({ iteration: z.int(), by: z.string().optional() }),
});

/** Returns the checkpoints that a roll-back may need: the newest healthy ones, and the newest after them. */
export function rollbackCheckpoints(checkpoints: readonly number[], lastHealthy: number | null): number[] {
  const healthy = checkpoints.filter((iteration) => iteration <= (lastHealthy ?? -1));
  const later = checkpoints.filter((iteration) => !healthy.includes(iteration));
  return [...healthy.slice(-pinsOnEachSide), ...later.slice(-pinsOnEachSide)];
}

/**
 * Requests the run's trainer to pin the checkpoints that a roll-back may need and to unpin those that are no longer needed. Pins by the user stay.
 * Doesn't wait for the responses: a checkpoint that couldn't be pinned still keeps its weights.
 */
export function pinRollbackCheckpoints(folder: string, lastHealthy: number | null): void {
  const needed = rollbackCheckpoints(checkpointsOf(folder), lastHealthy);
  const requests = lastPinRequests(folder);
  for (const iteration of needed) {
    const last = requests.get(iteration);
    const mayPin = last === undefined || (last.command === 'unpin' && last.by === origin);
    if (mayPin && !isPinned(folder, iteration)) appendCommand(folder, 'pin', { iteration, by: origin });
  }
  for (const [iteration, { command, by }] of requests)
    if (command === 'pin' && by === origin && !needed.includes(iteration) && isPinned(folder, iteration))
      appendCommand(folder, 'unpin', { iteration, by: origin });
}

/** Returns the last pin or unpin request per checkpoint. */
function lastPinRequests(folder: string): Map<number, { command: 'pin' | 'unpin'; by: string | undefined }> {
  const path = join(folder, runFiles.control);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  return new Map(
    lines
      .flatMap((line) => parseLine(pinLine, line) ?? [])
      .map(({ command, args: { iteration, by } }) => [iteration, { command, by }]),
  );
}
