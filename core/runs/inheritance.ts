import { isDeepStrictEqual } from 'node:util';
import type { HistoryDatabase } from '../history/database.ts';
import { configOf } from '../history/fork-baseline.ts';
import type { History } from '../history/history.ts';
import { getRun } from '../history/runs-table.ts';
import type { RunConfig } from '../run-config/run-config.ts';
import { runFolder } from '../run-directory/names.ts';
import { rollbacksBefore } from './fork-ancestors.ts';

/** State that a fork inherits from its parent besides settings and weights. It is written into the fork's folder at creation, because the parent may change or be deleted. */
export interface Inheritance {
  /** Baseline for the monitor, as the content of its file; null if the fork is judged without one. */
  forkBaseline: string | null;
  /** Number of automatic roll-backs that led to it. */
  rollbacks: number;
}

interface InheritanceParts {
  home: string;
  database: HistoryDatabase;
  history: Pick<History, 'forkBaseline'>;
  supervisor: { refresh(runId: string): Promise<void> };
}

/** Returns null if the run is not a fork of a run in this history. */
export async function inheritanceOf(
  { home, database, history, supervisor }: InheritanceParts,
  config: RunConfig,
): Promise<Inheritance | null> {
  const { run, checkpoint } = config.start;
  if (run === '' || !getRun(database, run)) return null;
  await supervisor.refresh(run);
  const playsAlike = isDeepStrictEqual(playedBy(configOf(home, run)), playedBy(config));
  return {
    forkBaseline: playsAlike ? await history.forkBaseline(run, checkpoint) : null,
    rollbacks: rollbacksBefore(database, run, (id) => runFolder(home, id)),
  };
}

/** Returns the settings that determine how episodes are played. If they differ, the parent's baseline doesn't apply. The number of episodes only affects its precision. */
function playedBy(config: unknown): unknown {
  const { environments, reward, rollout, levels } = (config ?? {}) as Partial<RunConfig>;
  const { groups: _, slots: __, ...sampling } = rollout ?? ({} as RunConfig['rollout']);
  return { environments, reward, sampling, pool: levels?.pool };
}
