import { join } from 'node:path';
import product from '../package.json' with { type: 'json' };
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
import { Reactions } from './reactions/reactions.ts';
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
  /** The trainer's executable; found by itself where it isn't named. */
  trainerPath?: string | undefined;
  /** Where problems go that no caller hears of. */
  log?: ((message: string) => void) | undefined;
  /** Whether this core starts what waits in the queue: for processes that stay. */
  worksQueue?: boolean | undefined;
  /** Whether this core does what the policies of living runs say at an alarm: for processes that stay. */
  reacts?: boolean | undefined;
  /** Whether it may be used while the runs of the data folder are still being taken in; `ready` settles when they are. */
  inBackground?: boolean | undefined;
  /** Whether the history is written by a thread of its own; without it, whatever else this process does waits meanwhile. */
  thread?: boolean | undefined;
  /** Where the hub's token is kept; a file of the data folder where there is no safer place. */
  secrets?: SecretStore | undefined;
  /** The watchdog's, for tests. */
  clock?: Clock | undefined;
}

export interface Core {
  readonly version: string;
  readonly home: string;
  readonly resources: string;
  /** Settles once every run that was there at the start is taken in. */
  readonly ready: Promise<void>;
  readonly history: History;
  /** The history's, for reading. */
  readonly database: HistoryDatabase;
  readonly trainer: Trainer;
  readonly runs: Runs;
  readonly evaluations: Evaluations;
  readonly episodes: EpisodeReader;
  readonly games: Games;
  readonly models: Models;
  /** Starts what waits only in a core that was told to `work`. */
  readonly queue: Queue;
  readonly studies: Studies;
  readonly annotations: Annotations;
  /** Does what policies say only in a core that was told to `react`. */
  readonly reactions: Reactions;
  readonly exports: Exports;
  /** Writes only in a core that stays. */
  readonly tensorBoard: TensorBoardWriting;
  readonly storage: Storage;
  readonly sizes: Sizes;
  readonly checkpoints: Checkpoints;
  readonly cleaner: Cleaner;
  /** Lets go of what was deleted long ago only in a core that was told to `work`. */
  readonly trash: Trash;
  readonly bundles: Bundles;
  /** Keeps up with what is trained only in a core that was told to `work`. */
  readonly episodeIndex: EpisodeIndex;
  /** Opened when it is first asked for. */
  readonly sample: Sample<Core>;
  readonly supervisor: Supervisor;
  readonly tasks: Tasks;
  /** How long runs would take. */
  readonly times: TimeEstimates;
  readonly notices: Notices;
  /** Take samples by themselves only in a core that stays. */
  readonly gauges: Gauges;
  readonly recentLog: RecentLog;
  readonly log: (message: string) => void;
  /** Lets go of everything, in reverse order. Trainers go on; evaluations are given up. */
  dispose(): Promise<void>;
}

/**
 * Puts core together on a data folder, which it has for itself until it is disposed of; others reach it through Studio (host/studio.ts).
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
    log(`A client failed: ${error instanceof Error ? error.message : error}`),
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
  const reactions = new Reactions({
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
    reactions.close();
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
  const takingIn = tasks.run(
    { kind: 'take_in', runId: null, title: 'Taking in the runs', cancellable: false },
    ({ progress }) => supervisor.start(progress),
  );
  const said = (error: unknown) =>
    log(`Taking in the runs: ${error instanceof Error ? error.message : error}`);
  // Who stays goes on without what couldn't be taken in: it is tried again every second.
  const ready = options.inBackground ? takingIn.catch(said) : takingIn;
  // What waits may be a run that isn't taken in yet. A roll-back that goes on has its device before what waits.
  const working = ready.then(() => {
    if (options.reacts) reactions.work();
    if (options.worksQueue && !history.readOnly) queue.work();
    if (options.reacts && !history.readOnly) {
      trash.work();
      episodeIndex.work();
      tensorBoard.work();
    }
  });
  try {
    if (options.inBackground) working.catch(said);
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
    reactions,
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
