import product from '../package.json' with { type: 'json' };
import { AlertActions } from './alert-actions/alert-actions.ts';
import { defaultResources } from './base/home.ts';
import { Notices } from './base/notices.ts';
import { Tasks } from './base/tasks.ts';
import { Bundles } from './bundles/bundles.ts';
import { Cluster } from './cluster/cluster.ts';
import { JobPoller } from './cluster/job-poller.ts';
import type { SlurmOptions } from './cluster/job-states.ts';
import type { RunJob } from './contract/contract.ts';
import { asDiskFull, messageOf } from './contract/failure.ts';
import { forgetHost } from './data-folder/host-file.ts';
import { EpisodeReader } from './episodes/reader.ts';
import { TimeEstimates } from './estimates/time.ts';
import { Evaluations } from './evaluations/evaluations.ts';
import { Exports } from './exports/exports.ts';
import { TensorBoardWriting } from './exports/tensorboard-writing.ts';
import type { HistoryDatabase } from './history/database.ts';
import { type History, openHistory } from './history/history.ts';
import { Imports } from './imports/imports.ts';
import type { SecretStore } from './models/hub-settings.ts';
import { Models } from './models/models.ts';
import { OwnEnvironments } from './own-environments/own-environments.ts';
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
import { ConfirmedCommands } from './trainer/confirmed-commands.ts';
import { trainerCandidates } from './trainer/executable.ts';
import { Trainer } from './trainer/trainer.ts';

export interface CoreOptions {
  /** Data folder; see `dataFolder` in home.ts. */
  home: string;
  /** Folder of the app's resources. Defaults to `resources/` of a checkout. */
  resources?: string | undefined;
  /** The trainer's executable. Defaults to the newest build. */
  trainerPath?: string | undefined;
  /** Logs errors that no caller receives. */
  log?: ((message: string) => void) | undefined;
  /** Whether to start queued runs; for long-running processes. */
  worksQueue?: boolean | undefined;
  /** Whether to run automatic actions, follow cluster jobs, write TensorBoard files, index episodes and delete expired items from the trash; for long-running processes. */
  backgroundWork?: boolean | undefined;
  /** Whether to index runs in the background; `ready` resolves when done. */
  inBackground?: boolean | undefined;
  /** Whether a worker thread writes the history; otherwise writes block this process. */
  thread?: boolean | undefined;
  /** Storage for the hub's token. Defaults to a file in the data folder. */
  secrets?: SecretStore | undefined;
  slurm?: SlurmOptions | undefined;
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
  readonly ownEnvironments: OwnEnvironments;
  readonly models: Models;
  readonly cluster: Cluster;
  /** Follows jobs if `backgroundWork`. */
  readonly jobPoller: JobPoller;
  /** Starts queued runs if `worksQueue`. */
  readonly queue: Queue;
  readonly studies: Studies;
  readonly annotations: Annotations;
  /** Runs automatic actions if `backgroundWork`. */
  readonly alertActions: AlertActions;
  readonly exports: Exports;
  /** Writes if `backgroundWork`. */
  readonly tensorBoard: TensorBoardWriting;
  readonly storage: Storage;
  readonly sizes: Sizes;
  readonly checkpoints: Checkpoints;
  readonly cleaner: Cleaner;
  /** Deletes expired items if `backgroundWork`. */
  readonly trash: Trash;
  readonly bundles: Bundles;
  readonly imports: Imports;
  /** Indexes new episodes if `backgroundWork`. */
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
  /** Closes all services in the order of {@link closeOrder} and logs errors. Trainers continue; evaluations are canceled. */
  dispose(): Promise<void>;
}

type Services = Omit<Core, 'ready' | 'dispose'>;

/** Services in the order in which they are closed. */
const closeOrder = [
  'sample',
  'tensorBoard',
  'episodeIndex',
  'trash',
  'alertActions',
  'studies',
  'queue',
  'jobPoller',
  'storage',
  'evaluations',
  'episodes',
  'games',
  'ownEnvironments',
  'supervisor',
  'tasks',
  'imports',
  'exports',
  'gauges',
  'history',
] as const satisfies readonly (keyof Services)[];

/**
 * Creates the services of a data folder and locks the folder until `dispose`. Other processes connect through Studio (host/studio.ts). A folder that
 * this process can't write to is opened read-only. Throws `data_folder_in_use`, `data_folder_unusable`, `history_outdated` or `disk_full`.
 */
export async function createCore(options: CoreOptions): Promise<Core> {
  return openCore(options).catch((error) => {
    // Listing and deleting runs must work on a full disk.
    if (asDiskFull(error)) return openCore(options, { scratch: true });
    throw error;
  });
}

async function openCore(options: CoreOptions, { scratch = false } = {}): Promise<Core> {
  const services = createServices(await openFolder(options, scratch), options);
  let disposed = false;
  const dispose = async () => {
    disposed = true;
    for (const name of closeOrder) {
      try {
        await services[name].close();
      } catch (error) {
        // The others must still be closed, and the folder unlocked.
        services.log(`Can't close ${name}: ${messageOf(error)}`);
      }
    }
  };
  const logError = (error: unknown) => services.log(`Can't index the runs: ${messageOf(error)}`);
  const indexing = services.tasks.run(
    { kind: 'ingest', runId: null, title: 'Indexing runs', cancelable: false },
    ({ progress }) => services.supervisor.start(progress),
  );
  // In the background, failed ingestion is retried every second.
  const ready = options.inBackground ? indexing.catch(logError) : indexing;
  const working = ready.then(() => {
    if (!disposed) startWork(services, options);
  });
  if (options.inBackground) {
    services.gauges.start();
    working.catch(logError);
  } else {
    await working.catch(async (error) => {
      await dispose();
      throw error;
    });
  }
  return { ...services, ready, dispose };
}

type Folder = Awaited<ReturnType<typeof openFolder>>;

/** Locks the folder and creates the services that follow its runs. */
async function openFolder(options: CoreOptions, scratch: boolean) {
  const { home, trainerPath, resources = defaultResources } = options;
  const recentLog = new RecentLog(options.log ?? console.error);
  const { log } = recentLog;
  const history = await openHistory(home, { thread: options.thread ?? true, log, scratch });
  if (history.locked) forgetHost(home);
  const notices = new Notices((error) => log(`A notice handler failed: ${messageOf(error)}`));
  const trainer = new Trainer(trainerPath ? [trainerPath] : trainerCandidates(resources), new ConfirmedCommands(home));
  const watchdog = new Watchdog(options.clock);
  const liveness = new Liveness(trainer, home);
  const queueFile = new QueueFile(home);
  const studyFiles = new StudyFiles(home);
  const jobs = new Map<string, RunJob>();
  const supervisor = new Supervisor({
    ...{ history, home, notices, queueFile, studyFiles, jobs, watchdog, liveness, log },
  });
  return {
    ...{ version: product.version, home, resources, recentLog, log },
    ...{ history, database: history.database, reader: history.reader },
    ...{ notices, tasks: new Tasks(notices), trainer, queueFile, studyFiles, jobs, supervisor },
    slurm: options.slurm,
  };
}

function createServices(folder: Folder, { trainerPath, secrets }: CoreOptions): Services {
  const { home, resources, notices, log } = folder;
  const annotations = new Annotations(folder);
  const cluster = new Cluster(folder);
  const runs = new Runs({ ...folder, cluster });
  const jobPoller = new JobPoller({ ...folder, states: cluster.jobs });
  const base = { ...folder, annotations, cluster, jobPoller, runs };
  const evaluations = new Evaluations(base);
  const queue = new Queue(base);
  const storage = new Storage(base);
  const trash = new Trash({ ...base, queue, evaluations });
  const studies = new Studies({ ...base, queue, trash });
  const sizes = new Sizes({ ...base, trash });
  const exports = new Exports({ ...base, studies });
  const bundles = new Bundles({ ...base, exports });
  const openSample = async (sampleHome: string) => {
    const core = await createCore({ home: sampleHome, resources, trainerPath, log, thread: false });
    // The sample has few files, and without `backgroundWork` nothing else indexes them.
    core.episodeIndex.indexAll().catch((error) => log(`Can't index the sample run: ${messageOf(error)}`));
    return core;
  };
  return {
    ...base,
    ...{ evaluations, queue, storage, trash, studies, sizes, exports, bundles },
    episodes: new EpisodeReader(),
    models: new Models({ ...base, secrets }),
    games: new Games(base),
    ownEnvironments: new OwnEnvironments(base),
    checkpoints: new Checkpoints({ ...base, evaluations }),
    cleaner: new Cleaner({ ...base, queue, evaluations, storage, sizes }),
    episodeIndex: new EpisodeIndex(base),
    alertActions: new AlertActions({ ...base, queue }),
    gauges: new Gauges(home, notices),
    tensorBoard: new TensorBoardWriting(base),
    imports: new Imports({ ...base, bundles }),
    sample: new Sample({ ...base, open: openSample }),
    times: new TimeEstimates(base),
  };
}

/** Starts background work when the runs are indexed. */
function startWork(services: Services, { backgroundWork, worksQueue }: CoreOptions): void {
  const { alertActions, jobPoller, queue, trash, episodeIndex, tensorBoard, history } = services;
  // Unfinished roll-backs get their device before queued runs.
  if (backgroundWork) alertActions.work();
  if (worksQueue && !history.readOnly) queue.work();
  if (backgroundWork && !history.readOnly) {
    jobPoller.work();
    trash.work();
    episodeIndex.work();
    tensorBoard.work();
  }
}
