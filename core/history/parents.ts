import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { RunSummary } from '../contract/contract.ts';
import type { Point } from '../echo-trap/track.ts';
import type { RunConfig } from '../run-config/run-config.ts';
import { upgradeConfig } from '../run-config/upgrade.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';
import type { HistoryDatabase } from './database.ts';
import { ingestAll } from './ingest.ts';
import { readSeries } from './queries.ts';
import { addRun, getRun } from './runs-table.ts';

/**
 * What the parents of a fork did on the way to it, oldest first: each up to where the next goes on from it, as far back as they are here and played as the fork does. A parent that the
 * history has yet to take in is taken in first, unless it is only read, so that a fork is judged alike in whatever order runs are looked at.
 */
export function parentPoints(database: HistoryDatabase, home: string, runId: string): Point[] {
  const points = new Map<number, Record<string, number>>();
  const played = playedBy(configOf(home, runId));
  const line = new Set([runId]);
  let from = parentOf(database, runId);
  let upTo = from?.iteration ?? null;
  while (from && upTo !== null && !line.has(from.run)) {
    const { run } = from;
    line.add(run);
    const isHere = database.readonly || addRun(database, run, runFolder(home, run));
    if (!isHere || !isDeepStrictEqual(playedBy(configOf(home, run)), played)) break;
    if (!database.readonly) ingestAll(database, run, join(runFolder(home, run), runFiles.journal));
    for (const { name, iterations, values } of readSeries(database, run, undefined, -1, upTo))
      for (const [i, iteration] of iterations.entries()) {
        const metrics = points.get(iteration) ?? {};
        // A fork's own evaluation of its start stands before its parent's.
        points.set(iteration, { [name]: values[i]!, ...metrics });
      }
    from = parentOf(database, run);
    upTo = from === null || from.iteration === null ? null : Math.min(upTo, from.iteration);
  }
  return [...points].sort(([a], [b]) => a - b).map(([iteration, metrics]) => ({ iteration, metrics }));
}

/** `iteration` is null for a copy, which began anew. */
const parentOf = (database: HistoryDatabase, runId: string): RunSummary['parent'] =>
  JSON.parse(getRun(database, runId)?.parent ?? 'null');

/** run.json in today's form; of one that can't be read, nothing is known. */
export function configOf(home: string, runId: string): unknown {
  try {
    return upgradeConfig(JSON.parse(readFileSync(join(runFolder(home, runId), runFiles.config), 'utf8')))
      .config;
  } catch {
    return null;
  }
}

/** What episodes are played on and how: where it differs, so does what is normal. */
function playedBy(config: unknown): unknown {
  const { environments, reward, rollout } = (config ?? {}) as Partial<RunConfig>;
  const { groups: _, slots: __, samples: ___, ...sampling } = rollout ?? ({} as RunConfig['rollout']);
  return { environments, reward, sampling };
}
