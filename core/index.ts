import { join } from 'node:path';
import product from '../package.json' with { type: 'json' };
import { type HistoryDatabase, openDatabase } from './history/database.ts';
import { forgetHost } from './host/host-file.ts';
import { Notices } from './notices.ts';
import { Runs } from './runs/runs.ts';
import { Supervisor } from './runs/supervisor.ts';
import { trainerCandidates } from './trainer/executable.ts';
import { Trainer } from './trainer/trainer.ts';

/** `resources/` of a checkout. */
export const defaultResources = join(import.meta.dirname, '../resources');

export interface CoreOptions {
  /** Data folder; see `dataFolder` in home.ts. */
  home: string;
  /** The app's resources, `resources/` of a checkout. */
  resources?: string | undefined;
  /** The trainer's executable; found by itself where it isn't named. */
  trainerPath?: string | undefined;
  /** Where problems go that no caller hears of. */
  log?: ((message: string) => void) | undefined;
}

export interface Core {
  readonly version: string;
  readonly home: string;
  readonly resources: string;
  readonly database: HistoryDatabase;
  readonly trainer: Trainer;
  readonly runs: Runs;
  readonly supervisor: Supervisor;
  readonly notices: Notices;
  readonly log: (message: string) => void;
  /** Lets go of everything, in reverse order. Trainers go on. */
  dispose(): Promise<void>;
}

/**
 * Puts core together on a data folder, which it has for itself until it is disposed of; others reach it through Studio (host/studio.ts).
 * Throws `data_folder_in_use`, `data_folder_unusable` or `history_version_unsupported`.
 */
export async function createCore(options: CoreOptions): Promise<Core> {
  const { home, trainerPath, log = console.error } = options;
  const resources = options.resources ?? defaultResources;
  const database = openDatabase(home);
  forgetHost(home);
  const notices = new Notices((error) =>
    log(`A client failed: ${error instanceof Error ? error.message : error}`),
  );
  const trainer = new Trainer(trainerPath ? [trainerPath] : trainerCandidates(resources));
  const supervisor = new Supervisor({ database, home, trainer, notices, log });
  const runs = new Runs({ database, home, resources, trainer, supervisor, notices });
  const dispose = async () => {
    await supervisor.close();
    database.close();
  };
  try {
    await supervisor.start();
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    version: product.version,
    home,
    resources,
    database,
    trainer,
    runs,
    supervisor,
    notices,
    log,
    dispose,
  };
}
