import type { z } from 'zod';
import { parseFrame, readIndex, readRollout } from '../run-directory/rollouts.ts';
import type { RolloutEntry } from './record.ts';

/** Yields the episodes of a rollout file; none if it was deleted during the export. Throws `rollout_corrupt`. */
export async function* episodesOf<Schema extends z.ZodType>(
  schema: Schema,
  folder: string,
  paths: RolloutEntry,
): AsyncGenerator<z.infer<Schema>> {
  const read = async () => [await readIndex(folder, paths), await readRollout(folder, paths)] as const;
  const rollout = await read().catch((error) => {
    if (error.code === 'rollout_missing') return null;
    throw error;
  });
  if (!rollout) return;
  const [index, bytes] = rollout;
  for (const entry of index) yield parseFrame(schema, paths, bytes, entry);
}
