import type { EchoTrap, RebuildReport } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { usableCalibration } from '../echo-trap/calibration.ts';
import { type HistoryDatabase, lockFolder, openReader } from './database.ts';
import { computeTrap } from './echo-trap.ts';
import { newerHistory } from './migrations.ts';
import { HistoryReader } from './reader.ts';
import type { RebuildOptions } from './rebuild.ts';
import type { Survey } from './survey.ts';
import { createWriter, type HistoryWriter, type Ingested, nothingIngested } from './writer.ts';
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
export class History implements HistoryWriter {
  readonly database: HistoryDatabase;
  readonly reader: HistoryReader;
  /** Why writes fail, or null. */
  readonly readOnly: Failure | null;
  private readonly writer: HistoryWriter | null;
  private readonly lock: { release(): void };

  private readonly computeTrap: (runId: string) => EchoTrap | null;

  private constructor(
    writer: HistoryWriter | null,
    database: HistoryDatabase,
    reader: HistoryReader,
    lock: { release(): void },
    computeTrap: (runId: string) => EchoTrap | null,
  ) {
    this.writer = writer;
    this.database = database;
    this.reader = reader;
    this.computeTrap = computeTrap;
    this.readOnly = writer ? null : newerHistory();
    this.lock = lock;
  }

  /** Throws `data_folder_in_use`, `data_folder_unusable`, `history_outdated` or `disk_full`. */
  static async open(home: string, { thread, log }: HistoryOptions): Promise<History> {
    const lock = lockFolder(home);
    let writer: HistoryWriter | null = null;
    try {
      const calibration = usableCalibration(home, log);
      writer = await openUnlessNewer(() =>
        thread ? startWriterThread(home, calibration) : createWriter(home, calibration),
      );
      const database = openReader(home);
      const judge = (runId: string) => computeTrap(database, home, runId, calibration);
      return new History(writer, database, new HistoryReader(home), lock, judge);
    } catch (error) {
      await writer?.close();
      lock.release();
      throw error;
    }
  }

  async survey(): Promise<Survey> {
    return this.writer ? this.writer.survey() : { removed: [], added: [], changed: [] };
  }

  async ingest(runId: string): Promise<Ingested> {
    return this.writer ? this.writer.ingest(runId) : nothingIngested;
  }

  async ingestAnnotations(runId: string): Promise<boolean> {
    return this.writer ? this.writer.ingestAnnotations(runId) : false;
  }

  async trap(runId: string): Promise<EchoTrap | null> {
    return this.writer ? this.writer.trap(runId) : this.computeTrap(runId);
  }

  async forkBaseline(runId: string, iteration: number): Promise<string | null> {
    return this.writer ? this.writer.forkBaseline(runId, iteration) : null;
  }

  async indexEpisodes(): Promise<boolean> {
    return this.writer ? this.writer.indexEpisodes() : false;
  }

  async rebuild(options: RebuildOptions = {}): Promise<RebuildReport> {
    if (this.writer) return this.writer.rebuild(options);
    throw newerHistory();
  }

  async close(): Promise<void> {
    this.database.close();
    await this.reader.close();
    await this.writer?.close();
    this.lock.release();
  }
}

/** Returns null for a history of a newer version. */
async function openUnlessNewer(
  open: () => HistoryWriter | Promise<HistoryWriter>,
): Promise<HistoryWriter | null> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof Failure && error.code === newerHistory().code) return null;
    throw error;
  }
}
