import { resolve } from 'node:path';
import { z } from 'zod';
import { checkpointAt, checkpointsOf } from '../run-directory/checkpoints.ts';
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
  for (const { id, name, status } of runs.list()) {
    if (id === runId || status === 'completed') continue;
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

/** Returns the iteration of a model that is a checkpoint of the run, otherwise null. */
function checkpointIn(folder: string, model: string): number | null {
  const checkpoint = checkpointAt(resolve(model));
  return checkpoint && checkpoint.folder === resolve(folder) ? checkpoint.iteration : null;
}
