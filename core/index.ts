import { join } from 'node:path';
import product from '../package.json' with { type: 'json' };
import { AlertActions } from './alert-actions/alert-actions.ts';
import { Notices } from './base/notices.ts';
import { Tasks } from './base/tasks.ts';
import { Bundles } from './bundles/bundles.ts';
import { forgetHost } from './data-folder/host-file.ts';
import { EpisodeReader } from './episodes/reader.ts';
import { TimeEstimates } from './estimates/time.ts';
import { Evaluations } from './evaluations/evaluations.ts';
import { Exports } from './exports/exports.ts';
import { TensorBoardWriting } from './exports/tensorboard-writing.ts';
import type { HistoryDatabase } from './history/database.ts';
import { History } from './history/history.ts';
import type { SecretStore } from './models/hub-settings.ts';
import { Models } from './models/models.ts';
import { Games } from './play/games.ts';
import { Queue } from './queue/queue.ts';
import { Checkpoints } from './run-library/checkpoints.ts';
import { Cleaner } from './run-library/cleaning.ts';
import { Sizes } from './run-library/sizes.ts';
import { Storage } from './run-library/storage.ts';
import { Trash } from './run-library/trash.ts';
import { EpisodeIndex } from './run-sync/episode-index.ts';
import { Liveness } from './run-sync/liveness.ts';
import { QueueFile } from './run-sync/queue-file.ts';
import { StudyFiles } from './run-sync/study-files.ts';
import { Supervisor } from './run-sync/supervisor.ts';
import { type Clock, Watchdog } from './run-sync/watchdog.ts';
import { Annotations } from './runs/annotations.ts';
import { Runs } from './runs/runs.ts';
import { Sample } from './sample/sample.ts';
import { Studies } from './studies/studies.ts';
import { Gauges } from './system/gauges.ts';
import { RecentLog } from './system/recent-log.ts';
import { trainerCandidates } from './trainer/executable.ts';
import { Trainer } from './trainer/trainer.ts';

/** `resources/` of a checkout. */
export const defaultResources = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? '../resources' : '../../resources',
);

export interface CoreOptions {
  /** Data folder; see `dataFolder` in home.ts. */
  home: string;
  /** The app's resources, `resources/` of a checkout. */
  resources?: string | undefined;
  /** The trainer's executable; by default the newest build. */
  trainerPath?: string | undefined;
  /** Logs errors that no caller receives. */
  log?: ((message: string) => void) | undefined;
  /** Whether to start queued runs; for long-running processes. */
  worksQueue?: boolean | undefined;
  /** Whether to run automatic actions; for long-running processes. */
  reacts?: boolean | undefined;
  /** Whether to index runs in the background; `ready` resolves when done. */
  inBackground?: boolean | undefined;
  /** Whether a worker thread writes the history; otherwise writes block this process. */
  thread?: boolean | undefined;
  /** Storage for the hub's token. Defaults to a file in the data folder. */
  secrets?: SecretStore | undefined;
  /** Clock of the watchdog, for tests. */
  clock?: Clock | undefined;
}

export interface Core {
  readonly version: string;
  readonly home: string;
  readonly resources: string;
  /** Resolves when the runs present at the start are indexed. */
  readonly ready: Promise<void>;
  readonly history: History;
  /** Read-only connection of the history. */
  readonly database: HistoryDatabase;
  readonly trainer: Trainer;
  readonly runs: Runs;
  readonly evaluations: Evaluations;
  readonly episodes: EpisodeReader;
  readonly games: Games;
  readonly models: Models;
  /** Starts queued runs if `worksQueue`. */
  readonly queue: Queue;
  readonly studies: Studies;
  readonly annotations: Annotations;
  /** Runs automatic actions if `reacts`. */
  readonly alertActions: AlertActions;
  readonly exports: Exports;
  /** Writes if `reacts`. */
  readonly tensorBoard: TensorBoardWriting;
  readonly storage: Storage;
  readonly sizes: Sizes;
  readonly checkpoints: Checkpoints;
  readonly cleaner: Cleaner;
  /** Deletes expired items if `reacts`. */
  readonly trash: Trash;
  readonly bundles: Bundles;
  /** Indexes new episodes if `reacts`. */
  readonly episodeIndex: EpisodeIndex;
  /** Opened on first use. */
  readonly sample: Sample<Core>;
  readonly supervisor: Supervisor;
  readonly tasks: Tasks;
  /** Estimates of training time. */
  readonly times: TimeEstimates;
  readonly notices: Notices;
  /** Samples periodically if `inBackground`. */
  readonly gauges: Gauges;
  readonly recentLog: RecentLog;
  readonly log: (message: string) => void;
  /** Closes all services in reverse order. Trainers continue; evaluations are cancelled. */
  dispose(): Promise<void>;
}

/**
 * Creates the services of a data folder and locks the folder until `dispose`. Other processes connect through Studio (host/studio.ts).
 * Throws `data_folder_in_use`, `data_folder_unusable` or `disk_full`.
 */
export async function createCore(options: CoreOptions): Promise<Core> {
  const { home, trainerPath } = options;
  const recentLog = new RecentLog(options.log ?? console.error);
  const { log } = recentLog;
  const resources = options.resources ?? defaultResources;
  const history = await History.open(home, { thread: options.thread ?? true, log });
  const { database } = history;
  forgetHost(home);
  const notices = new Notices((error) =>
    log(`A notice handler failed: ${error instanceof Error ? error.message : error}`),
  );
  const tasks = new Tasks(notices);
  const times = new TimeEstimates({ home, database });
  const trainer = new Trainer(trainerPath ? [trainerPath] : trainerCandidates(resources));
  const file = new QueueFile(home);
  const watchdog = new Watchdog(options.clock);
  const liveness = new Liveness(trainer, home);
  const files = new StudyFiles(home);
  const supervisor = new Supervisor({
    ...{ history, home, notices, queue: file, studies: files, watchdog, liveness, log },
  });
  const annotations = new Annotations({ history, home, supervisor });
  const runs = new Runs({ database, history, home, resources, trainer, supervisor, notices });
  const evaluations = new Evaluations({ runs, trainer, notices, tasks });
  const episodes = new EpisodeReader();
  const models = new Models({ home, resources, runs, tasks, notices, secrets: options.secrets });
  const games = new Games({ runs, trainer, annotations, notices, log });
  const storage = new Storage({ runs, supervisor, notices, log });
  const queue = new Queue({ database, file, runs, supervisor, trainer, annotations, notices, log });
  const checkpoints = new Checkpoints({ database, runs, notices });
  const busy = { runs, queue, evaluations, trainer, notices };
  const trash = new Trash({ ...busy, home, supervisor, studies: files, tasks, log });
  const studies = new Studies({
    ...{
      home,
      resources,
      trainer,
      database,
      reader: history.reader,
      files,
      runs,
      queue,
      supervisor,
      trash,
      notices,
    },
  });
  const sizes = new Sizes({ database, home, trash });
  const cleaner = new Cleaner({ ...busy, database, annotations, storage, sizes, tasks });
  const episodeIndex = new EpisodeIndex({ history, supervisor, log });
  const alertActions = new AlertActions({
    history,
    runs,
    supervisor,
    annotations,
    queue,
    trainer,
    notices,
    log,
  });
  const gauges = new Gauges(home, notices);
  if (options.inBackground) gauges.start();
  const exports = new Exports({ home, resources, runs, studies, tasks });
  const tensorBoard = new TensorBoardWriting({ home, database, supervisor, notices });
  const bundles = new Bundles({ home, runs, supervisor, tasks, exports });
  const openSample = (folder: string) =>
    createCore({ home: folder, resources, trainerPath, log, thread: false });
  const sample = new Sample({ home, resources, tasks, open: openSample, log });
  const dispose = async () => {
    await sample.close();
    await tensorBoard.close();
    await episodeIndex.close();
    trash.close();
    alertActions.close();
    await studies.close();
    queue.close();
    storage.close();
    await evaluations.close();
    await episodes.close();
    await games.close();
    await supervisor.close();
    await tasks.close();
    await bundles.close();
    exports.close();
    gauges.close();
    await history.close();
  };
  const indexing = tasks.run(
    { kind: 'ingest', runId: null, title: 'Indexing runs', cancellable: false },
    ({ progress }) => supervisor.start(progress),
  );
  const logError = (error: unknown) =>
    log(`Indexing runs: ${error instanceof Error ? error.message : error}`);
  // In the background, failed ingestion is retried every second.
  const ready = options.inBackground ? indexing.catch(logError) : indexing;
  // Queued runs must be indexed first. Unfinished roll-backs get their device before queued runs.
  const working = ready.then(() => {
    if (options.reacts) alertActions.work();
    if (options.worksQueue && !history.readOnly) queue.work();
    if (options.reacts && !history.readOnly) {
      trash.work();
      episodeIndex.work();
      tensorBoard.work();
    }
  });
  try {
    if (options.inBackground) working.catch(logError);
    else await working;
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    version: product.version,
    home,
    resources,
    ready,
    history,
    database,
    trainer,
    runs,
    evaluations,
    episodes,
    games,
    models,
    queue,
    studies,
    annotations,
    alertActions,
    exports,
    tensorBoard,
    storage,
    sizes,
    checkpoints,
    cleaner,
    trash,
    bundles,
    episodeIndex,
    sample,
    supervisor,
    tasks,
    times,
    notices,
    gauges,
    recentLog,
    log,
    dispose,
  };
}
