import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ensureFolder } from '../base/folders.ts';
import type { Notices } from '../base/notices.ts';
import type { ApiError, TensorBoardState } from '../contract/contract.ts';
import { asDiskFull, Failure, messageOf } from '../contract/failure.ts';
import { sentence } from '../contract/sentence.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { eventsAfter, storedMeaning } from '../history/queries.ts';
import { getRun, listRunIds, type RunRow } from '../history/runs-table.ts';
import { tensorBoardFolder } from '../run-directory/names.ts';
import { writeWhole } from '../run-directory/write-whole.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import { TensorBoardRun } from './tensorboard-run.ts';

/** Events to write before yielding to other work. */
const batchSize = 100;
/** Time in ms until failed writes are retried. New events of the run also retry them. */
const retryDelay = 10_000;

interface TensorBoardParts {
  home: string;
  database: HistoryDatabase;
  supervisor: Supervisor;
  notices: Notices;
}

/**
 * Writes TensorBoard files of training runs, `tensorboard/RUN/events.out.tfevents...`, while `tensorboard.json` exists. The
 * first write of a run in this process rewrites its file with the same bytes, so that no point is lost or duplicated.
 */
export class TensorBoardWriting {
  private readonly parts: TensorBoardParts;
  private readonly settingFile: string;
  private readonly folder: string;
  private on: boolean;
  private working = false;
  private readonly runs = new Map<string, TensorBoardRun>();
  /** Runs to write, one after another. */
  private readonly planned = new Set<string>();
  private busy = Promise.resolve();
  /** Write errors by run id. */
  private readonly problems = new Map<string, ApiError>();
  private retry: NodeJS.Timeout | null = null;
  private readonly stops: (() => void)[];

  constructor(parts: TensorBoardParts) {
    this.parts = parts;
    this.settingFile = join(parts.home, 'tensorboard.json');
    this.folder = tensorBoardFolder(parts.home);
    this.on = existsSync(this.settingFile);
    this.stops = [
      parts.supervisor.events.on('journal', ({ runId }) => this.plan(runId)),
      parts.supervisor.events.on('removed', ({ runId }) => this.forget(runId)),
    ];
  }

  get state(): TensorBoardState {
    const [problem = null] = this.problems.values();
    return { on: this.on, folder: this.folder, problem };
  }

  /** Starts writing if the setting is on. */
  work(): void {
    this.working = true;
    this.begin();
  }

  /** Changes the setting. Throws `disk_full` or `tensorboard_unwritable`. */
  set(on: boolean): TensorBoardState {
    if (on) this.saveSetting();
    else rmSync(this.settingFile, { force: true });
    this.on = on;
    if (on) this.begin();
    else for (const runId of [...this.runs.keys()]) this.forget(runId);
    this.publish();
    return this.state;
  }

  async close(): Promise<void> {
    this.working = false;
    for (const stop of this.stops) stop();
    if (this.retry) clearTimeout(this.retry);
    for (const run of this.runs.values()) run.close();
    this.runs.clear();
    await this.busy;
  }

  private saveSetting(): void {
    try {
      ensureFolder(this.folder);
      writeWhole(this.settingFile, { version: 1 });
    } catch (error) {
      throw this.unwritable(error);
    }
  }

  /** Plans the runs that train and those with incomplete files. */
  private begin(): void {
    const { database, supervisor } = this.parts;
    if (!this.on || !this.working) return;
    for (const runId of listRunIds(database)) {
      const row = getRun(database, runId);
      const incomplete = row && (this.problems.has(runId) || this.isBehind(row));
      if (row && (incomplete || supervisor.isActive(row))) this.plan(runId);
    }
  }

  /** Returns whether a run has events after the last write of its file. */
  private isBehind({ id, last_time }: RunRow): boolean {
    const folder = join(this.folder, id);
    try {
      const written = readdirSync(folder).map((name) => statSync(join(folder, name)).mtimeMs);
      return written.length > 0 && Math.max(...written) < (last_time ?? 0);
    } catch {
      return false;
    }
  }

  private plan(runId: string): void {
    if (!this.on || !this.working || this.planned.has(runId)) return;
    this.planned.add(runId);
    this.busy = this.busy.then(() => {
      this.planned.delete(runId);
      return this.write(runId);
    });
  }

  private async write(runId: string): Promise<void> {
    if (!this.on || !this.working) return;
    const run = this.runs.get(runId) ?? new TensorBoardRun(join(this.folder, runId));
    this.runs.set(runId, run);
    try {
      const ended = await this.writeNew(runId, run);
      if (this.runs.get(runId) !== run) return;
      // If training continues later, the file is rewritten.
      if (ended) this.forget(runId);
      if (this.problems.delete(runId)) this.publish();
    } catch (error) {
      this.fail(runId, error);
    }
  }

  /** Writes all new events and returns whether the run has ended. Stops if the run was forgotten. */
  private async writeNew(runId: string, run: TensorBoardRun): Promise<boolean> {
    let ended = false;
    while (this.runs.get(runId) === run) {
      const events = eventsAfter(this.parts.database, runId, run.seq, { limit: batchSize });
      if (events.length === 0) break;
      for (const event of events) {
        const meaning = storedMeaning(event);
        run.write(event, meaning);
        ended = meaning.ends !== undefined;
      }
      await setImmediate();
    }
    return ended;
  }

  private forget(runId: string): void {
    this.runs.get(runId)?.close();
    this.runs.delete(runId);
    if (this.problems.delete(runId)) this.publish();
  }

  private fail(runId: string, error: unknown): void {
    const problem = this.unwritable(error).toApiError();
    const before = this.problems.get(runId);
    this.problems.set(runId, problem);
    if (before?.message !== problem.message) this.publish();
    this.retry ??= setTimeout(() => {
      this.retry = null;
      for (const each of this.problems.keys()) this.plan(each);
    }, retryDelay);
    this.retry.unref();
  }

  private unwritable(error: unknown): Failure {
    return new Failure(
      asDiskFull(error)?.code ?? 'tensorboard_unwritable',
      sentence(`TensorBoard files can't be written: ${messageOf(error)}`),
      `Training continues. Free disk space or make ${this.folder} writable; missing metrics are written then.`,
    );
  }

  private publish(): void {
    this.parts.notices.emit('tensorBoard', this.state);
  }
}
