import { isDeepStrictEqual } from 'node:util';
import type { HistoryDatabase } from '../history/database.ts';
import { configOf } from '../history/fork-baseline.ts';
import type { History } from '../history/history.ts';
import { getRun } from '../history/runs-table.ts';
import type { RunConfig } from '../run-config/run-config.ts';
import { runFolder } from '../run-directory/names.ts';
import { rollbacksBefore } from './line-of-forks.ts';

/** What a fork takes over from the run that it goes on from, beside settings and weights. It is written into the fork's folder when that is made: the other run may change or go. */
export interface Inheritance {
  /** By what the fork's monitor measures, as its file; null where it is judged by itself. */
  normal: string | null;
  /** How many roll-backs by policy led to it. */
  rollbacks: number;
}

export interface InheritanceParts {
  home: string;
  database: HistoryDatabase;
  history: Pick<History, 'normalAt'>;
  supervisor: { refresh(runId: string): Promise<void> };
}

/** Null for a run that goes on from no run of this history. */
export async function inheritanceOf(
  { home, database, history, supervisor }: InheritanceParts,
  config: RunConfig,
): Promise<Inheritance | null> {
  const { run, checkpoint } = config.start;
  if (run === '' || !getRun(database, run)) return null;
  await supervisor.refresh(run);
  const playsAlike = isDeepStrictEqual(playedBy(configOf(home, run)), playedBy(config));
  return {
    normal: playsAlike ? await history.normalAt(run, checkpoint) : null,
    rollbacks: rollbacksBefore(database, run, (id) => runFolder(home, id)),
  };
}

/** What episodes are played on and how: where it differs, so does what is normal. How many are played makes it surer, and no other. */
function playedBy(config: unknown): unknown {
  const { environments, reward, rollout, levels } = (config ?? {}) as Partial<RunConfig>;
  const { groups: _, slots: __, ...sampling } = rollout ?? ({} as RunConfig['rollout']);
  return { environments, reward, sampling, pool: levels?.pool };
}
