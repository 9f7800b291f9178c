import { relative } from 'node:path';
import { z } from 'zod';
import { checkpointsOf } from '../run-directory/checkpoints.ts';
import { runFiles } from '../run-directory/names.ts';
import type { Runs } from './runs.ts';

const models = z.looseObject({
  start: z.looseObject({ model: z.string() }),
  kl: z.looseObject({ reference: z.string(), coefficient: z.number() }),
});

/**
 * Returns the checkpoints of a run that other runs need, with the names of those runs: a run needs its start until it has its own checkpoint, and the
 * reference model of its KL term.
 */
export async function neededCheckpoints(runs: Runs, runId: string): Promise<Map<number, string[]>> {
  const needed = new Map<number, string[]>();
  const folder = runs.folder(runId);
  for (const { id, name, parent, status, iteration } of runs.list()) {
    if (id === runId || status === 'completed') continue;
    // It has a checkpoint. Reading the configurations of all runs would be slow.
    if (!parent && iteration > 0) continue;
    const config = models.safeParse(await runs.config(id).catch(() => null)).data;
    if (!config) continue;
    const { start, kl } = config;
    const hasCheckpoint = checkpointsOf(runs.folder(id)).length > 0;
    for (const model of [hasCheckpoint ? '' : start.model, kl.coefficient === 0 ? '' : kl.reference]) {
      const at = checkpointIn(folder, model);
      if (at !== null) needed.set(at, [...new Set([...(needed.get(at) ?? []), name])]);
    }
  }
  return needed;
}

/** Returns null if the folder is not a checkpoint of the run. */
function checkpointIn(folder: string, model: string): number | null {
  if (model === '') return null;
  const [checkpoints, name, ...rest] = relative(folder, model).split(/[\\/]/);
  return checkpoints === runFiles.checkpoints && name && /^\d{6,7}$/.test(name) && rest.length === 0
    ? Number(name)
    : null;
}
