import type { EchoTrap } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { usableCalibration } from '../echo-trap/calibration.ts';
import { type HistoryDatabase, lockFolder, openReader } from './database.ts';
import { newerHistory } from './migrations.ts';
import { HistoryReader } from './reader.ts';
import { computeTrap } from './run-monitors.ts';
import { createWriter, type HistoryWriter, nothingIngested } from './writer.ts';
import { startWriterThread } from './writer-thread.ts';

interface HistoryOptions {
  /** Whether a separate thread writes, so that this process keeps responding. */
  thread: boolean;
  /** Called with the reason if the data folder's monitor thresholds are invalid. */
  log: (message: string) => void;
}

/**
 * The run history of a data folder, locked by this process until it is closed. `database` is for fast reads, `reader` for slow ones in a separate
 * thread; one writer does all writes. A history of a newer version is opened read-only, and nothing is ingested.
 */
export interface History extends HistoryWriter {
  readonly database: HistoryDatabase;
  readonly reader: HistoryReader;
  /** Why writes fail, or null. */
  readonly readOnly: Failure | null;
}

/** Throws `data_folder_in_use`, `data_folder_unusable`, `history_outdated` or `disk_full`. */
export async function openHistory(home: string, { thread, log }: HistoryOptions): Promise<History> {
  const lock = lockFolder(home);
  let writer: HistoryWriter | null = null;
  try {
    const calibration = usableCalibration(home, log);
    writer = await openUnlessNewer(() =>
      thread ? startWriterThread(home, calibration) : createWriter(home, calibration),
    );
    const database = openReader(home);
    const reader = new HistoryReader(home);
    const used = writer ?? readOnlyWriter((runId) => computeTrap(database, home, runId, calibration));
    return {
      ...used,
      database,
      reader,
      readOnly: writer ? null : newerHistory(),
      async close() {
        database.close();
        await reader.close();
        await used.close();
        lock.release();
      },
    };
  } catch (error) {
    await writer?.close();
    lock.release();
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
