import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Notices } from '../base/notices.ts';
import type { TaskControl, Tasks } from '../base/tasks.ts';
import type { Cleaning, Refusal } from '../contract/contract.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { checkpointResults, findRollout, listRollouts } from '../history/queries.ts';
import { getRun } from '../history/runs-table.ts';
import { checkpointsOf, isPinned } from '../run-directory/checkpoints.ts';
import { filesBytes, folderBytes } from '../run-directory/measure.ts';
import { checkpointPath, trainSplit } from '../run-directory/names.ts';
import { inside } from '../run-directory/rollouts.ts';
import type { Annotations } from '../runs/annotations.ts';
import { modelReader, neededCheckpoints } from '../runs/needed-checkpoints.ts';
import { type BusyParts, eachRun, makeIdle } from './busy.ts';
import type { Sizes } from './sizes.ts';
import type { Storage } from './storage.ts';

interface CleanerParts extends BusyParts {
  database: HistoryDatabase;
  annotations: Annotations;
  storage: Storage;
  sizes: Sizes;
  notices: Notices;
  tasks: Tasks;
}

/** Files that can be deleted from a run. */
interface Dispensable {
  /** Training episodes with their files, by iteration. */
  episodes: { iteration: number; files: string[] }[];
  checkpoints: number[];
}

/** Frees disk space of runs that are not active: training episodes, and checkpoints that are neither the first, last, best, pinned nor needed by another run. */
export class Cleaner {
  private readonly parts: CleanerParts;

  constructor(parts: CleanerParts) {
    this.parts = parts;
  }

  /** Returns the bytes that a cleaning would free, and why runs can't be cleaned. */
  async estimate(runIds: readonly string[]): Promise<{ episodes: number; checkpoints: number; refused: Refusal[] }> {
    const { runs } = this.parts;
    const modelsOf = modelReader(runs);
    const freeable = { episodes: 0, checkpoints: 0 };
    const refused = await eachRun(runIds, async (runId) => {
      const folder = runs.folder(runId);
      const { episodes, checkpoints } = await this.dispensable(runId, modelsOf);
      for (const { files } of episodes) freeable.episodes += await filesBytes(files);
      for (const iteration of checkpoints)
        freeable.checkpoints += await folderBytes(join(folder, checkpointPath(iteration)));
    });
    return { ...freeable, refused };
  }

  /** Cleans runs as a task and returns the freed bytes. A canceled task keeps the freed space; a run's episodes are deleted all or none. */
  clean(runIds: readonly string[], cleaning: Cleaning): Promise<{ bytes: number; refused: Refusal[] }> {
    const { runs, tasks } = this.parts;
    const single = runIds.length === 1 ? runs.list().find(({ id }) => id === runIds[0]) : undefined;
    const title = `Freeing disk space in ${single ? single.name : `${runIds.length} runs`}`;
    return tasks.run({ kind: 'clean', runId: single?.id ?? null, title, cancelable: true }, (control) =>
      this.cleanAll([...new Set(runIds)], cleaning, control),
    );
  }

  private async cleanAll(
    runIds: readonly string[],
    { episodes, checkpoints }: Cleaning,
    { signal, progress }: TaskControl,
  ): Promise<{ bytes: number; refused: Refusal[] }> {
    let bytes = 0;
    let started = 0;
    const modelsOf = modelReader(this.parts.runs);
    const refused = await eachRun(runIds, async (runId) => {
      if (signal.aborted) return;
      const run = started++;
      await makeIdle(this.parts, runId);
      const dispensable = await this.dispensable(runId, modelsOf);
      const selected = {
        episodes: episodes ? dispensable.episodes : [],
        checkpoints: checkpoints ? dispensable.checkpoints : [],
      };
      const steps = selected.episodes.length + selected.checkpoints.length;
      let done = 0;
      // Progress in hundredths of a run.
      const step = () => progress(100 * run + Math.floor((100 * done++) / steps), 100 * runIds.length);
      bytes += await this.removeEpisodes(runId, selected.episodes, step);
      bytes += await this.removeCheckpoints(runId, selected.checkpoints, step, signal);
      this.parts.sizes.forget(runId);
      this.parts.notices.emit('storage', { runId, storage: await this.parts.storage.of(runId) });
    });
    return { bytes, refused };
  }

  private async dispensable(runId: string, modelsOf: ReturnType<typeof modelReader>): Promise<Dispensable> {
    const { runs, database } = this.parts;
    const folder = runs.folder(runId);
    const episodes = listRollouts(database, runId)
      .filter(({ split }) => split === trainSplit)
      .map(({ iteration, split }) => {
        const { file, index } = findRollout(database, runId, iteration, split)!;
        return { iteration, files: [inside(folder, file), inside(folder, index)] };
      });
    const all = checkpointsOf(folder);
    const needed = await neededCheckpoints(runs, runId, modelsOf);
    const best = checkpointResults(database, runId)
      .filter(({ iteration }) => all.includes(iteration))
      .reduce<{ iteration: number; rate: number } | null>(
        (highest, each) => (!highest || each.rate >= highest.rate ? each : highest),
        null,
      );
    const isKept = (iteration: number) =>
      [all[0], all.at(-1), best?.iteration].includes(iteration) || needed.has(iteration) || isPinned(folder, iteration);
    return { episodes, checkpoints: all.filter((iteration) => !isKept(iteration)) };
  }

  /** Records the deletion first, as a trainer does, so that concurrent readers report it instead of a missing file. */
  private async removeEpisodes(runId: string, episodes: Dispensable['episodes'], step: () => void): Promise<number> {
    if (episodes.length === 0) return 0;
    const { annotations, database, notices } = this.parts;
    const { last_seq: seq } = getRun(database, runId)!;
    await annotations.add(runId, { type: 'cleaned', splits: [trainSplit], seq });
    let freed = 0;
    for (const { iteration, files } of episodes) {
      step();
      notices.emit('rolloutRemoved', { runId, iteration, split: trainSplit });
      freed += await filesBytes(files);
      for (const file of files) await rm(file, { force: true });
    }
    return freed;
  }

  private async removeCheckpoints(
    runId: string,
    iterations: readonly number[],
    step: () => void,
    signal: AbortSignal,
  ): Promise<number> {
    let freed = 0;
    for (const iteration of iterations) {
      if (signal.aborted) break;
      step();
      const folder = join(this.parts.runs.folder(runId), checkpointPath(iteration));
      freed += await folderBytes(folder);
      await rm(folder, { recursive: true, force: true });
    }
    if (iterations.length > 0) this.parts.notices.emit('checkpoints', { runId, written: null });
    return freed;
  }
}
