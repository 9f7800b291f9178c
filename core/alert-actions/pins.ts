import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { checkpointsOf } from '../run-directory/checkpoints.ts';
import { appendCommand } from '../run-directory/control.ts';
import { checkpointPath, pinFile, runFiles } from '../run-directory/names.ts';
import { parseLine } from '../run-directory/parse-line.ts';

/** Checkpoints that stay on either side of the last healthy iteration: a sign that is found late may have begun before the newest of them. */
const keptOnEachSide = 2;

/** Origin of a pin, in the arguments of its command; the trainer does not read it. */
const own = 'monitor';

const pinLine = z.looseObject({
  command: z.enum(['pin', 'unpin']),
  args: z.looseObject({ iteration: z.number().int(), by: z.string().optional() }),
});

/** Checkpoints that a roll-back may need: the newest that are known to be healthy, and the newest that aren't. */
export function wantedPins(checkpoints: readonly number[], lastHealthy: number | null): number[] {
  const healthy = checkpoints.filter((iteration) => iteration <= (lastHealthy ?? -1));
  const later = checkpoints.filter((iteration) => !healthy.includes(iteration));
  return [...healthy.slice(-keptOnEachSide), ...later.slice(-keptOnEachSide)];
}

/**
 * Asks a run's trainer to pin the checkpoints that a roll-back may need and to unpin those that are no longer needed. Pins by the user stay.
 * The answers are not awaited: a checkpoint that couldn't be pinned still keeps its weights.
 */
export function pinWanted(folder: string, lastHealthy: number | null): void {
  const wanted = wantedPins(checkpointsOf(folder), lastHealthy);
  const asked = askedPins(folder);
  for (const iteration of wanted) {
    const last = asked.get(iteration);
    const free = last === undefined || (last.command === 'unpin' && last.by === own);
    if (free && !isPinned(folder, iteration)) appendCommand(folder, 'pin', { iteration, by: own });
  }
  for (const [iteration, { command, by }] of asked)
    if (command === 'pin' && by === own && !wanted.includes(iteration) && isPinned(folder, iteration))
      appendCommand(folder, 'unpin', { iteration, by: own });
}

/** The last that was asked for, by checkpoint. */
function askedPins(folder: string): Map<number, { command: 'pin' | 'unpin'; by: string | undefined }> {
  const path = join(folder, runFiles.control);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  return new Map(
    lines
      .flatMap((line) => parseLine(pinLine, line) ?? [])
      .map(({ command, args: { iteration, by } }) => [iteration, { command, by }]),
  );
}

const isPinned = (folder: string, iteration: number) =>
  existsSync(join(folder, checkpointPath(iteration), pinFile));
