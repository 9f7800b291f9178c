import { existsSync, readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFolder, moveFolder } from '../base/folders.ts';
import type { Notices } from '../base/notices.ts';
import type { Tasks } from '../base/tasks.ts';
import type { Refusal, TrashedRun } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { ownName } from '../history/runs-table.ts';
import { readAnnotations } from '../run-directory/annotations.ts';
import { folderBytes } from '../run-directory/measure.ts';
import { runFiles, runFolder, tensorBoardFolder, trashFolder } from '../run-directory/names.ts';
import { nameInStudy, type StudyFiles } from '../run-sync/study-files.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import { modelReader, neededCheckpoints } from '../runs/needed-checkpoints.ts';
import { type BusyParts, eachRun, makeIdle } from './busy.ts';

/** How long (ms) a deleted run can be restored. */
export const retention = 7 * 86_400_000;
/** Interval (ms) between deletions of expired items. */
const expiryInterval = 3_600_000;

interface TrashParts extends BusyParts {
  home: string;
  supervisor: Supervisor;
  studyFiles: StudyFiles;
  tasks: Tasks;
  notices: Notices;
  log: (message: string) => void;
}

type Entry = Pick<TrashedRun, 'id' | 'runId' | 'deletedAt'>;

/**
 * Deleted runs. One rename moves a run's folder to `trash/RUN.TIME`, and one restores it, so it is never incomplete; runs on another disk are copied. The names record what was deleted
 * and when. A sweep's file becomes `STUDY.TIME.json` and is restored with the first of its runs.
 */
export class Trash {
  private readonly parts: TrashParts;
  /** Deleted runs by id; they don't change. */
  private readonly cache = new Map<string, TrashedRun>();
  private timer: NodeJS.Timeout | null = null;

  constructor(parts: TrashParts) {
    this.parts = parts;
  }

  /** Starts to delete expired items. */
  work(): void {
    const deleteExpired = () =>
      void this.deleteExpired(Date.now()).catch((error) =>
        this.parts.log(`Can't delete expired items in the trash: ${error}`),
      );
    deleteExpired();
    this.timer ??= setInterval(deleteExpired, expiryInterval);
    this.timer.unref();
  }

  close(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** Moves runs to the trash. Refuses runs that are in use or needed by others. */
  async delete(runIds: readonly string[]): Promise<{ deleted: TrashedRun[]; refused: Refusal[] }> {
    const { home, runs, supervisor } = this.parts;
    ensureFolder(trashFolder(home));
    const moved: string[] = [];
    const deleted = new Set<string>();
    const read = modelReader(runs);
    const modelsOf = async (id: string) => (deleted.has(id) ? undefined : read(id));
    const move = async (runId: string) => {
      await makeIdle(this.parts, runId, () => this.refuseNeeded(runId, modelsOf));
      const id = `${runId}.${Date.now()}`;
      await moveFolder(runFolder(home, runId), this.path(id));
      moved.push(id);
      deleted.add(runId);
    };
    const refused: Refusal[] = [];
    for (let left = runIds; left.length > 0; ) {
      const before = moved.length;
      const failed = await eachRun(left, move);
      // The runs that needed them may have been deleted after them.
      const again = moved.length > before ? failed.filter(({ error }) => error.code === 'run_needed') : [];
      refused.push(...failed.filter((each) => !again.includes(each)));
      left = again.map(({ runId }) => runId);
    }
    if (moved.length > 0) {
      await supervisor.scanNow();
      await this.removeTensorBoard(moved.map((id) => id.split('.')[0]!));
      this.publish();
    }
    const all = await this.list();
    return { deleted: all.filter(({ id }) => moved.includes(id)), refused };
  }

  /** Returns the deleted runs, newest first. */
  async list(): Promise<TrashedRun[]> {
    const entries = await this.entries();
    for (const id of this.cache.keys()) if (!entries.some((entry) => entry.id === id)) this.cache.delete(id);
    return Promise.all(entries.map((entry) => this.describe(entry)));
  }

  /** Restores runs and returns their ids. Throws `trash_unknown` or `run_exists` without restoring any. */
  async restore(ids: readonly string[]): Promise<string[]> {
    const { home, supervisor, studyFiles } = this.parts;
    const entries = await this.entries();
    const restored = [...new Set(ids)].map((id, index, all) => {
      const entry = entries.find((each) => each.id === id);
      if (!entry)
        throw new Failure(
          'trash_unknown',
          'The run is no longer in the trash.',
          'It was already restored, or permanently deleted.',
        );
      const isTwice = all
        .slice(0, index)
        .some((other) => entries.find((each) => each.id === other)?.runId === entry.runId);
      if (isTwice)
        throw new Failure('run_exists', `Run ${entry.runId} is in the trash twice.`, 'Restore only one of the two.');
      if (existsSync(runFolder(home, entry.runId)))
        throw new Failure('run_exists', `Another run with the id ${entry.runId} exists.`, 'Delete that run first.');
      return entry;
    });
    for (const { id, runId } of restored) {
      studyFiles.restoreForRun(runId);
      await moveFolder(this.path(id), runFolder(home, runId));
      await supervisor.add(runId);
    }
    this.publish();
    return restored.map(({ runId }) => runId);
  }

  /** Permanently deletes everything in the trash, as a task. Returns the freed bytes. */
  async empty(): Promise<number> {
    const until = Date.now();
    const all = await this.list();
    return this.parts.tasks.run(
      { kind: 'empty_trash', runId: null, title: 'Emptying the trash', cancelable: true },
      async ({ signal, progress }) => {
        let freed = 0;
        for (const [done, { id, bytes }] of all.entries()) {
          if (signal.aborted) break;
          progress(done, all.length);
          await this.remove(id);
          freed += bytes;
        }
        if (!signal.aborted) await this.removeStudies(until);
        if (!signal.aborted) await this.removePartial();
        this.publish();
        return freed;
      },
    );
  }

  /** Permanently deletes items that have expired at `now` (ms since the epoch). */
  async deleteExpired(now: number): Promise<void> {
    const expired = (await this.entries()).filter(({ deletedAt }) => now - deletedAt > retention);
    for (const { id } of expired) await this.remove(id);
    await this.removeStudies(now - retention - 1);
    if (expired.length > 0) this.publish();
  }

  private async refuseNeeded(runId: string, modelsOf: ReturnType<typeof modelReader>): Promise<void> {
    const needed = [...(await neededCheckpoints(this.parts.runs, runId, modelsOf)).values()].flat();
    if (needed.length > 0)
      throw new Failure(
        'run_needed',
        `${[...new Set(needed)].join(', ')} can't resume without a checkpoint of this run.`,
        'Delete those runs first, or let them complete.',
      );
  }

  /** Deletes TensorBoard files immediately; they can be written again. */
  private async removeTensorBoard(runIds: readonly string[]): Promise<void> {
    const { home, log } = this.parts;
    for (const runId of runIds)
      await rm(join(tensorBoardFolder(home), runId), { recursive: true, force: true }).catch((error) =>
        log(`Can't delete the TensorBoard files of ${runId}: ${error}`),
      );
  }

  private remove(id: string): Promise<void> {
    return rm(this.path(id), { recursive: true, force: true });
  }

  /** Permanently deletes sweep files that were moved to the trash at or before `until`. */
  private async removeStudies(until: number): Promise<void> {
    for (const name of await this.names()) {
      const time = /^[a-z0-9-]{1,40}\.(\d{1,15})\.json$/.exec(name)?.[1];
      if (time !== undefined && Number(time) <= until) await this.remove(name);
    }
  }

  /** Deletes incomplete copies from another disk, left by a killed process. */
  private async removePartial(): Promise<void> {
    for (const name of await this.names()) if (/^\..+\.moving$/.test(name)) await this.remove(name);
  }

  private publish(): void {
    this.parts.notices.emit('trash', {});
  }

  private path(id: string): string {
    return join(trashFolder(this.parts.home), id);
  }

  private names(): Promise<string[]> {
    return readdir(trashFolder(this.parts.home)).catch(() => []);
  }

  private async entries(): Promise<Entry[]> {
    const names = await this.names();
    return names
      .flatMap((id) => {
        const [, runId, time] = /^([a-z0-9-]{1,64})\.(\d{1,15})$/.exec(id) ?? [];
        return runId ? [{ id, runId, deletedAt: Number(time) }] : [];
      })
      .sort((a, b) => b.deletedAt - a.deletedAt || (a.id < b.id ? -1 : 1));
  }

  private async describe(entry: Entry): Promise<TrashedRun> {
    const cached = this.cache.get(entry.id);
    if (cached) return cached;
    const folder = this.path(entry.id);
    const bytes = await folderBytes(folder);
    const run = {
      ...entry,
      name: this.nameIn(folder, entry.runId),
      until: entry.deletedAt + retention,
      bytes,
    };
    this.cache.set(entry.id, run);
    return run;
  }

  /** Returns the display name of a deleted run; its id if its files are unreadable. */
  private nameIn(folder: string, runId: string): string {
    try {
      const { annotations } = readAnnotations(folder);
      const annotation = annotations.findLast((each) => each.type === 'name');
      if (annotation?.name) return annotation.name;
      const study = this.parts.studyFiles.ofTrashed(runId);
      if (study) return nameInStudy(study);
      return ownName(runId, JSON.parse(readFileSync(join(folder, runFiles.config), 'utf8')));
    } catch {
      return runId;
    }
  }
}
