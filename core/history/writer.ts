import { join } from 'node:path';
import type { EchoTrap, RebuildReport } from '../contract/contract.ts';
import type { Calibration } from '../echo-trap/calibration.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';
import { ingestAnnotations } from './annotations.ts';
import { openWriter } from './database.ts';
import { indexNextRollout } from './episode-text.ts';
import { forkBaselineText } from './fork-baseline.ts';
import { ingestBatch } from './ingest.ts';
import { type RebuildOptions, rebuildHistory } from './rebuild.ts';
import { RunMonitors } from './run-monitors.ts';
import { addRun } from './runs-table.ts';
import { type Survey, Surveyor } from './survey.ts';

export interface Ingested {
  /** Whether annotations changed. */
  annotated: boolean;
  /** Whether there may be more events to ingest. */
  more: boolean;
  /** Whether the view of the Echo Trap monitor changed. */
  trapChanged: boolean;
  /** An error that did not prevent ingestion, or null. */
  problem: string | null;
}

export const nothingIngested: Ingested = { annotated: false, more: false, trapChanged: false, problem: null };

export interface WriterData {
  home: string;
  /** Folder of the history: the data folder or a temporary one. */
  index: string;
  /** The monitor's thresholds. Default: the built-in ones. */
  calibration?: Calibration | undefined;
  /** Whether nothing may be written to the run folders. */
  readOnly: boolean;
}

/** Does all writes of the history, one after another. */
export interface HistoryWriter {
  /** Compares the run directories with the history. */
  survey(): Promise<Survey>;
  /** Ingests one batch of new events of a run, and adds the run if it is new. Does nothing without new events. */
  ingest(runId: string): Promise<Ingested>;
  /** Returns whether anything was new. */
  ingestAnnotations(runId: string): Promise<boolean>;
  /** Returns the monitor's view of the ingested part of a run, or null if there is none. */
  trap(runId: string): Promise<EchoTrap | null>;
  /** Returns the text of fork-baseline.json for a fork of the run at an iteration, from what is ingested; null if there is no baseline. */
  forkBaseline(runId: string, iteration: number): Promise<string | null>;
  /** Indexes one rollout file for the search. Returns whether there was one. */
  indexEpisodes(): Promise<boolean>;
  /** Throws the abort reason of `signal`. */
  rebuild(options?: RebuildOptions): Promise<RebuildReport>;
  close(): Promise<void>;
}

/** The functions of the writer's thread. */
export interface BlockingWriter extends HistoryWriter {
  /** Ingests several runs in one transaction, which takes a fraction of the time. Throws the first error, and then ingests none of them. */
  ingestTogether(runIds: readonly string[]): Ingested[];
}

/** Creates a writer that blocks its thread while it works. Throws as `openDatabase` does. */
export function createWriter({ home, index, calibration, readOnly }: WriterData): BlockingWriter {
  const database = openWriter(index);
  const surveyor = new Surveyor(database, home);
  const monitors = new RunMonitors(database, home, { calibration, readOnly });
  const ingest = (runId: string): Ingested => {
    const folder = runFolder(home, runId);
    if (!addRun(database, runId, folder)) return nothingIngested;
    const more = ingestBatch(database, runId, join(folder, runFiles.journal));
    const annotated = ingestAnnotations(database, runId, folder);
    if (more) return { ...nothingIngested, annotated, more };
    const { raised, ...update } = monitors.update(runId);
    return { annotated: annotated || raised, more, ...update };
  };
  return {
    survey: async () => surveyor.survey(),
    ingest: async (runId) => ingest(runId),
    ingestTogether: database.transaction((runIds: readonly string[]) => runIds.map(ingest)).immediate,
    ingestAnnotations: async (runId) => ingestAnnotations(database, runId, runFolder(home, runId)),
    trap: async (runId) => monitors.view(runId),
    forkBaseline: async (runId, iteration) =>
      forkBaselineText({ run: runId, iteration }, monitors.forkBaseline(runId, iteration)),
    indexEpisodes: async () => indexNextRollout(database, home),
    rebuild: (options) => rebuildHistory(database, home, monitors, options),
    close: async () => void database.close(),
  };
}
