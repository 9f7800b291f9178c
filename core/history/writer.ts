import { join } from 'node:path';
import type { EchoTrap, RebuildReport } from '../contract/contract.ts';
import type { Calibration } from '../echo-trap/calibration.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';
import { takeAnnotations } from './annotations.ts';
import { openWriter } from './database.ts';
import { Judge } from './echo-trap.ts';
import { indexNextRollout } from './episode-text.ts';
import { forkBaselineText } from './fork-baseline.ts';
import { ingestBatch } from './ingest.ts';
import { type RebuildOptions, rebuildHistory } from './rebuild.ts';
import { addRun } from './runs-table.ts';
import { type Survey, Surveyor } from './survey.ts';

export interface Ingested {
  /** Whether the annotations were read again. */
  annotated: boolean;
  /** Whether there is more to be taken in. */
  more: boolean;
  /** Whether the Echo Trap's monitor has something new to say. */
  judged: boolean;
  /** What went wrong that keeps nothing else from being taken in, or null. */
  problem: string | null;
}

export const nothingTaken: Ingested = { annotated: false, more: false, judged: false, problem: null };

/** Everything that writes the history, one thing after the other. */
export interface HistoryWriter {
  /** Looks at every run directory. */
  survey(): Promise<Survey>;
  /** Ingests one batch of new events of a run, and adds the run if it is new. Does nothing without new events. */
  ingest(runId: string): Promise<Ingested>;
  /** Gives whether anything was new. */
  takeAnnotations(runId: string): Promise<boolean>;
  /** Returns the monitor's view of the ingested part of a run, or null if the run is not judged. */
  trap(runId: string): Promise<EchoTrap | null>;
  /** Returns the text of fork-baseline.json for a fork of the run at an iteration, from what is ingested; null if there is no baseline. */
  forkBaseline(runId: string, iteration: number): Promise<string | null>;
  /** Reads one file of episodes for the search; gives whether there was one to be read. */
  indexEpisodes(): Promise<boolean>;
  /** Throws what `signal` was aborted with. */
  rebuild(options?: RebuildOptions): Promise<RebuildReport>;
  close(): Promise<void>;
}

/** What is taken in of one run before others have their turn, in batches of the journal. */
const turn = 4;

/** The writer itself, which keeps its thread from all else while it works. Throws as `openDatabase` does. */
export function createWriter(home: string, calibration?: Calibration): HistoryWriter {
  const database = openWriter(home);
  const surveyor = new Surveyor(database, home);
  const judge = new Judge(database, home, calibration);
  return {
    survey: async () => surveyor.survey(),
    ingest: async (runId) => {
      const folder = runFolder(home, runId);
      if (!addRun(database, runId, folder)) return nothingTaken;
      let more = true;
      for (let batch = 0; batch < turn && more; batch++)
        more = ingestBatch(database, runId, join(folder, runFiles.journal));
      const annotated = takeAnnotations(database, runId, folder);
      if (more) return { ...nothingTaken, annotated, more };
      const { raised, ...judged } = judge.judge(runId);
      return { annotated: annotated || raised, more, ...judged };
    },
    takeAnnotations: async (runId) => takeAnnotations(database, runId, runFolder(home, runId)),
    trap: async (runId) => judge.view(runId),
    forkBaseline: async (runId, iteration) =>
      forkBaselineText({ run: runId, iteration }, judge.forkBaseline(runId, iteration)),
    indexEpisodes: async () => indexNextRollout(database, home),
    rebuild: (options) => rebuildHistory(database, home, judge, options),
    close: async () => void database.close(),
  };
}
