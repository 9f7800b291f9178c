import { relative } from 'node:path';
import { z } from 'zod';
import { checkpointsOf } from '../run-directory/checkpoints.ts';
import { runFiles } from '../run-directory/names.ts';
import type { Runs } from './runs.ts';

const models = z.looseObject({
  start: z.looseObject({ model: z.string() }),
  kl: z.looseObject({ reference: z.string(), coefficient: z.number() }),
});

/** Returns a function that reads the models of runs, each once; undefined if a configuration is unreadable. */
export function modelReader(runs: Runs) {
  const read = new Map<string, Promise<z.infer<typeof models> | undefined>>();
  const modelsOf = async (runId: string) => models.safeParse(await runs.config(runId).catch(() => null)).data;
  return (runId: string) => {
    const found = read.get(runId) ?? modelsOf(runId);
    read.set(runId, found);
    return found;
  };
}

/**
 * Returns the checkpoints of a run that other runs need, with the names of those runs: a run needs its start until it has its own checkpoint, and the
 * reference model of its KL term.
 */
export async function neededCheckpoints(
  runs: Runs,
  runId: string,
  modelsOf: ReturnType<typeof modelReader>,
): Promise<Map<number, string[]>> {
  const needed = new Map<number, string[]>();
  const folder = runs.folder(runId);
  for (const { id, name, parent, status, iteration } of runs.list()) {
    if (id === runId || status === 'completed') continue;
    // It has a checkpoint.
    if (!parent && iteration > 0) continue;
    const config = await modelsOf(id);
    if (!config) continue;
    const { start, kl } = config;
    const add = (at: number) => needed.set(at, [...new Set([...(needed.get(at) ?? []), name])]);
    const [first, reference] = [checkpointIn(folder, start.model), checkpointIn(folder, kl.reference)];
    if (first !== null && checkpointsOf(runs.folder(id)).length === 0) add(first);
    if (reference !== null && kl.coefficient !== 0) add(reference);
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
