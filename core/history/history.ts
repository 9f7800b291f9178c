import type { EchoTrap } from '../contract/contract.ts';
import { asDiskFull, Failure } from '../contract/failure.ts';
import { usableCalibration } from '../echo-trap/calibration.ts';
import { type HistoryDatabase, lockFolder, openReader } from './database.ts';
import { newerHistory } from './migrations.ts';
import { HistoryReader } from './reader.ts';
import { computeTrap } from './run-monitors.ts';
import { copyToScratch } from './scratch-index.ts';
import { readOnlyCode } from './write-access.ts';
import { createWriter, type HistoryWriter, nothingIngested } from './writer.ts';
import { startWriterThread } from './writer-thread.ts';

interface HistoryOptions {
  /** Whether a separate thread writes, so that this process keeps responding. */
  thread: boolean;
  /** Called with the reason if the data folder's monitor thresholds are invalid or its disk is full. */
  log: (message: string) => void;
  /** Whether to ingest into a temporary copy of the history, because the disk is full. */
  scratch?: boolean | undefined;
}

/**
 * The run history of a data folder, locked by this process until it is closed. `database` is for fast reads, `reader` for slow ones in a separate
 * thread; one writer does all writes. A history of a newer version is opened read-only, and nothing is ingested. If this process can't write to the
 * data folder, or its disk is full, runs are ingested into a temporary copy of the history.
 */
export interface History extends HistoryWriter {
  readonly database: HistoryDatabase;
  readonly reader: HistoryReader;
  /** Why nothing can be changed: this process can't write to the data folder, or a newer version wrote the history. Null otherwise. */
  readonly readOnly: Failure | null;
  /** Whether this process is the data folder's host. False only for a folder that it can't write to, which may have another host. */
  readonly locked: boolean;
}

/** Throws `data_folder_in_use`, `data_folder_unusable`, `history_outdated` or `disk_full`. */
export async function openHistory(home: string, options: HistoryOptions): Promise<History> {
  const lock = lockUnlessReadOnly(home);
  try {
    if (lock instanceof Failure) return await openScratch(home, options, lock);
    const release = () => lock.release();
    if (options.scratch) return await openScratch(home, options, null, release);
    return await openIndex(home, options, { folder: home, release }).catch((error) => {
      if (!asDiskFull(error)) throw error;
      return openScratch(home, options, null, release);
    });
  } catch (error) {
    if (!(lock instanceof Failure)) lock.release();
    throw error;
  }
}

function lockUnlessReadOnly(home: string): { release(): void } | Failure {
  try {
    return lockFolder(home);
  } catch (error) {
    if (error instanceof Failure && error.code === readOnlyCode) return error;
    throw error;
  }
}

/** Location of the history, reason why the data folder is read-only, and cleanup after closing. */
interface Index {
  folder: string;
  readOnly?: Failure | null;
  locked?: boolean;
  release(): void;
}

async function openScratch(
  home: string,
  options: HistoryOptions,
  readOnly: Failure | null,
  release = () => {},
): Promise<History> {
  if (!readOnly)
    options.log(
      `The disk of ${home} is full. The run history is not saved until you free some space and restart the app.`,
    );
  const { folder, remove } = copyToScratch(home);
  const removeAll = () => {
    remove();
    release();
  };
  const index = { folder, readOnly, locked: readOnly === null, release: removeAll };
  return openIndex(home, options, index).catch((error) => {
    remove();
    throw error;
  });
}

async function openIndex(
  home: string,
  { thread, log }: HistoryOptions,
  { folder, readOnly = null, locked = true, release }: Index,
): Promise<History> {
  const calibration = usableCalibration(home, log);
  const data = { home, index: folder, calibration, readOnly: readOnly !== null };
  const writer = await openUnlessNewer(() => (thread ? startWriterThread(data) : createWriter(data)));
  try {
    const database = openReader(folder);
    const reader = new HistoryReader(folder);
    const used = writer ?? readOnlyWriter((runId) => computeTrap(database, home, runId, calibration));
    return {
      ...used,
      database,
      reader,
      readOnly: readOnly ?? (writer ? null : newerHistory()),
      locked,
      async close() {
        database.close();
        await reader.close();
        await used.close();
        release();
      },
    };
  } catch (error) {
    await writer?.close();
    throw error;
  }
}

/** Returns a writer for a history of a newer version. It ingests nothing. */
const readOnlyWriter = (computeTrap: (runId: string) => EchoTrap | null): HistoryWriter => ({
  survey: async () => ({ removed: [], added: [], changed: [] }),
  ingest: async () => nothingIngested,
  ingestAnnotations: async () => false,
  trap: async (runId) => computeTrap(runId),
  forkBaseline: async () => null,
  indexEpisodes: async () => false,
  rebuild: async () => {
    throw newerHistory();
  },
  close: async () => {},
});

/** Returns null for a history of a newer version. */
async function openUnlessNewer(open: () => HistoryWriter | Promise<HistoryWriter>): Promise<HistoryWriter | null> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof Failure && error.code === newerHistory().code) return null;
    throw error;
  }
}
