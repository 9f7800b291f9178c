import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ensureFolder } from '../base/folders.ts';
import type { TaskControl, Tasks } from '../base/tasks.ts';
import { WorkerThread, workerScript } from '../base/worker-thread.ts';
import type { HubModel, PartialDownload } from '../contract/contract.ts';
import { repository as repositoryName } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { bytes as formatBytes } from '../contract/numbers.ts';
import { filesBytes, freeBytes } from '../run-directory/measure.ts';
import { readJsonFile } from '../run-directory/parse-line.ts';
import { writeWhole } from '../run-directory/write-whole.ts';
import type { DownloadFunctions } from './download-worker.ts';
import { type HubRevision, readRevision } from './hub.ts';
import type { HubSettingsStore } from './hub-settings.ts';

interface DownloadsParts {
  /** Folder of downloaded models. */
  folder: string;
  hub: HubSettingsStore;
  tasks: Tasks;
  /** Called when downloads change. */
  onChange: () => void;
  /** Initial delay between download attempts in ms. */
  retryDelay?: number | undefined;
}

/** Content of download.json in the folder of a download. */
const recordSchema = z.object({
  version: z.literal(1),
  repository: repositoryName,
  revision: z.string(),
  total: z.number(),
});
const recordName = 'download.json';
/** Bytes to leave free on the disk. */
const reservedBytes = 256 << 20;

const partialSuffix = '.partial';

/** Downloads of models from a hub. */
export class Downloads {
  private readonly parts: DownloadsParts;
  /** Task ids of active downloads by repository. */
  private readonly active = new Map<string, string>();

  constructor(parts: DownloadsParts) {
    this.parts = parts;
  }

  /** Lists incomplete downloads. */
  async list(): Promise<PartialDownload[]> {
    const names = await readdir(this.parts.folder).catch(() => []);
    const found = names
      .filter((name) => name.startsWith('.') && name.endsWith(partialSuffix))
      .map(async (name): Promise<PartialDownload[]> => {
        const record = readDownloadRecord(join(this.parts.folder, name));
        if (!record) return [];
        const done = await bytesOf(join(this.parts.folder, name));
        const taskId = this.active.get(record.repository) ?? null;
        return [{ repository: record.repository, done, total: record.total, taskId }];
      });
    return (await Promise.all(found)).flat();
  }

  /** Looks up a repository. See `models.look` in the API. */
  async look(repository: string): Promise<HubModel> {
    return this.toHubModel(await this.revision(repository));
  }

  /** Starts or resumes a download. See `models.download` in the API. */
  async start(repository: string): Promise<{ taskId: string }> {
    if (this.active.has(repository)) throw activeDownload(repository);
    this.active.set(repository, '');
    try {
      const revision = await this.revision(repository);
      const { problem, free, bytes } = await this.toHubModel(revision);
      if (problem) throw new Failure(problem.code, problem.message, problem.hint);
      const partial = this.partialOf(repository);
      // Files of another revision do not match.
      if (readDownloadRecord(partial)?.revision !== revision.revision)
        await rm(partial, { recursive: true, force: true });
      const missing = bytes - (await bytesOf(partial));
      if (missing + reservedBytes > free)
        throw new Failure(
          'disk_space_low',
          `${repository} needs ${formatBytes(missing)} more, and ${formatBytes(reservedBytes)} must stay free, but the disk of ${this.parts.folder} has ${formatBytes(free)} free.`,
          'Free disk space, or choose a data folder on another disk (Settings page or --home).',
        );
      ensureFolder(this.parts.folder);
      ensureFolder(partial);
      const record = { version: 1, repository, revision: revision.revision, total: bytes };
      writeWhole(join(partial, recordName), record);
      return { taskId: this.begin(revision, partial) };
    } catch (error) {
      this.active.delete(repository);
      throw error;
    }
  }

  /** Deletes an incomplete download. Throws `download_active`. */
  async discard(repository: string): Promise<void> {
    if (this.active.has(repository)) throw activeDownload(repository);
    await rm(this.partialOf(repository), { recursive: true, force: true });
    this.parts.onChange();
  }

  private begin(revision: HubRevision, partial: string): string {
    const { tasks, retryDelay = 1000 } = this.parts;
    const { repository } = revision;
    const { host, token } = this.parts.hub;
    const folder = this.folderOf(repository);
    const plan = { hub: { host, token }, revision, partial, folder, retryDelay };
    const total = sizeOf(revision);
    const before = new Set(tasks.list().map(({ id }) => id));
    const work = ({ signal, progress }: TaskControl) => {
      const rate = new Rate();
      const thread = new WorkerThread<DownloadFunctions>({
        script: workerScript(import.meta.filename, 'download-worker'),
        ...{ code: 'download_failed', purpose: 'downloads the model' },
      });
      return thread.callOnce('download', plan, {
        signal,
        progress: (done) => progress(done, total, rate.secondsLeft(done, total)),
      });
    };
    const title = `Downloading ${repository}`;
    const done = tasks.run({ kind: 'download', runId: null, title, cancelable: true }, work);
    const taskId = tasks.list().find(({ id }) => !before.has(id))!.id;
    this.active.set(repository, taskId);
    this.parts.onChange();
    done
      .catch(() => {})
      .finally(() => {
        this.active.delete(repository);
        this.parts.onChange();
      });
    return taskId;
  }

  private async revision(repository: string): Promise<HubRevision> {
    const { host, token } = this.parts.hub;
    return readRevision({ host, token }, repository);
  }

  private async toHubModel(hubRevision: HubRevision): Promise<HubModel> {
    const { repository, license, licenseLink, parameters, files } = hubRevision;
    const folder = this.folderOf(repository);
    ensureFolder(this.parts.folder);
    return {
      ...{ repository, license, licenseLink, parameters, folder },
      files: files.length,
      bytes: sizeOf(hubRevision),
      free: await freeBytes(this.parts.folder),
      problem: problemOf(hubRevision, folder)?.toApiError() ?? null,
    };
  }

  private folderOf = (repository: string) => join(this.parts.folder, repository.split('/')[1]!);
  private partialOf = (repository: string) =>
    join(this.parts.folder, `.${repository.replace('/', '--')}${partialSuffix}`);
}

/** Returns null if the folder has no valid download.json. */
export const readDownloadRecord = (folder: string) => readJsonFile(recordSchema, join(folder, recordName));

/** Returns the downloaded bytes. */
async function bytesOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  return filesBytes(names.filter((name) => name !== recordName).map((name) => join(folder, name)));
}

const sizeOf = ({ files }: HubRevision) => files.reduce((sum, { size }) => sum + size, 0);

/** Returns why a revision cannot be downloaded, or null. */
function problemOf({ repository, files, modelType }: HubRevision, folder: string): Failure | null {
  const has = (pattern: RegExp) => files.some(({ name }) => pattern.test(name));
  if (modelType !== null && modelType !== 'qwen2')
    return new Failure(
      'model_unsupported',
      `${repository} has model type ${modelType}; only qwen2 is supported.`,
      'Choose a Qwen2 or Qwen2.5 model.',
    );
  if (!has(/^config\.json$/) || !has(/^tokenizer\.json$/) || !has(/\.safetensors$/))
    return new Failure(
      'model_unsupported',
      `${repository} lacks config.json, tokenizer.json or safetensors weights.`,
      'Choose a repository with a complete model in safetensors format.',
    );
  if (existsSync(folder))
    return new Failure('model_exists', `${folder} already contains a model.`, 'Delete it first to download it again.');
  return null;
}

const activeDownload = (repository: string) =>
  new Failure('download_active', `${repository} is being downloaded.`, 'Wait until it finishes, or cancel it.');

/** Estimates the remaining time from the recent rate. */
class Rate {
  private readonly points: { time: number; done: number }[] = [];

  secondsLeft(done: number, total: number): number | null {
    const time = performance.now();
    this.points.push({ time, done });
    while (this.points.length > 2 && time - this.points[0]!.time > 10_000) this.points.shift();
    const first = this.points[0]!;
    const rate = (done - first.done) / (time - first.time);
    return rate > 0 ? (total - done) / rate / 1000 : null;
  }
}
