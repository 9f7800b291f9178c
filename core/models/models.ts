import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { Notices } from '../base/notices.ts';
import type { TaskControl, Tasks } from '../base/tasks.ts';
import { WorkerThread, workerScript } from '../base/worker-thread.ts';
import type { HubModel, ModelEntry, PartialDownload, RunCheckpoints } from '../contract/contract.ts';
import { repository as repositoryName } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { hubCache } from '../presets/find.ts';
import { checkpointsOf } from '../run-directory/checkpoints.ts';
import { checkpointPath, wholeWeights } from '../run-directory/names.ts';
import { writeWhole } from '../run-directory/write-whole.ts';
import type { Runs } from '../runs/runs.ts';
import { describeModel, folderName, type ModelFolder } from './describe.ts';
import type { DownloadFunctions } from './download-worker.ts';
import { type HubRevision, readRevision } from './hub.ts';
import { HubSettingsStore, type SecretStore } from './hub-settings.ts';

interface ModelsParts {
  home: string;
  resources: string;
  runs: Runs;
  tasks: Tasks;
  notices: Notices;
  secrets?: SecretStore | undefined;
  /** Initial delay between download attempts in ms. */
  retryDelay?: number | undefined;
}

const foldersSchema = z.object({ version: z.literal(1), folders: z.array(z.string()) });
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

/** Local model folders, and downloads from a hub. */
export class Models {
  readonly hub: HubSettingsStore;
  private readonly parts: ModelsParts;
  private readonly foldersPath: string;
  /** Task ids of active downloads by repository. */
  private readonly active = new Map<string, string>();

  constructor(parts: ModelsParts) {
    this.parts = parts;
    this.hub = new HubSettingsStore(parts.home, parts.secrets);
    this.foldersPath = join(parts.home, 'models.json');
  }

  /** Lists the starter model first, then downloaded, added and cached models. */
  async list(): Promise<ModelEntry[]> {
    const models = [this.starter(), ...this.downloaded(), ...this.added(), ...cached()];
    const isFirst = (model: ModelFolder, index: number) =>
      models.findIndex(({ folder }) => folder === model.folder) === index;
    return Promise.all(models.filter(isFirst).map(describeModel));
  }

  /** Lists incomplete downloads. */
  async downloads(): Promise<PartialDownload[]> {
    const names = await readdir(this.folder()).catch(() => []);
    const found = names
      .filter((name) => name.startsWith('.') && name.endsWith(partialSuffix))
      .map(async (name): Promise<PartialDownload[]> => {
        const record = readRecord(join(this.folder(), name));
        if (!record) return [];
        const done = await bytesOf(join(this.folder(), name));
        const taskId = this.active.get(record.repository) ?? null;
        return [{ repository: record.repository, done, total: record.total, taskId }];
      });
    return (await Promise.all(found)).flat();
  }

  /** Lists the checkpoints of each run, in the order of the run list. */
  async checkpoints(): Promise<RunCheckpoints[]> {
    const all = this.parts.runs.list().map(async ({ id, name }): Promise<RunCheckpoints[]> => {
      const folder = this.parts.runs.folder(id);
      const iterations = checkpointsOf(folder).toReversed();
      if (iterations.length === 0) return [];
      const sizes = await Promise.all(
        iterations.map((iteration) =>
          stat(join(folder, checkpointPath(iteration), wholeWeights)).then(
            ({ size }) => size,
            () => 0,
          ),
        ),
      );
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      return [{ runId: id, name, iterations, folder: join(folder, checkpointPath(iterations[0]!)), bytes }];
    });
    return (await Promise.all(all)).flat();
  }

  /** Adds a model folder to the list. Throws `model_missing`. */
  add(folder: string): void {
    const path = resolve(folder);
    if (!existsSync(join(path, 'config.json')))
      throw new Failure(
        'model_missing',
        `The folder ${path} has no config.json.`,
        'Choose the folder with config.json, tokenizer.json and model.safetensors.',
      );
    const folders = this.folders();
    if (!folders.includes(path)) writeWhole(this.foldersPath, { version: 1, folders: [...folders, path] });
    this.publish();
  }

  forget(folder: string): void {
    const folders = this.folders().filter((each) => each !== folder);
    writeWhole(this.foldersPath, { version: 1, folders });
    this.publish();
  }

  /** Deletes a downloaded model. Throws `model_unknown`. */
  async delete(name: string): Promise<void> {
    const model = this.downloaded().find((each) => each.name === name);
    if (!model)
      throw new Failure(
        'model_unknown',
        `"${name}" is not a downloaded model.`,
        'Delete other models in their own folder.',
      );
    await rm(model.folder, { recursive: true });
    this.publish();
  }

  /** See `models.look` in the API. */
  async look(repository: string): Promise<HubModel> {
    return this.toHubModel(await this.revision(repository));
  }

  /** See `models.download` in the API. */
  async download(repository: string): Promise<{ taskId: string }> {
    if (this.active.has(repository)) throw activeDownload(repository);
    this.active.set(repository, '');
    try {
      const revision = await this.revision(repository);
      const { problem, free, bytes } = await this.toHubModel(revision);
      if (problem) throw new Failure(problem.code, problem.message, problem.hint);
      const partial = this.partialOf(repository);
      // Files of another revision do not match.
      if (readRecord(partial)?.revision !== revision.revision)
        await rm(partial, { recursive: true, force: true });
      const missing = bytes - (await bytesOf(partial));
      if (missing + reservedBytes > free)
        throw new Failure(
          'disk_space_low',
          `${repository} needs ${gigabytes(missing)} more, but ${this.folder()} has only ${gigabytes(free)} free.`,
          'Free disk space, or choose a data folder on another disk (System page or --home).',
        );
      await mkdir(partial, { recursive: true });
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
    this.publish();
  }

  private begin(revision: HubRevision, partial: string): string {
    const { tasks, retryDelay = 1000 } = this.parts;
    const { repository } = revision;
    const { host, token } = this.hub;
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
    const done = tasks.run({ kind: 'download', runId: null, title, cancellable: true }, work);
    const taskId = tasks.list().find(({ id }) => !before.has(id))!.id;
    this.active.set(repository, taskId);
    this.publish();
    done
      .catch(() => {})
      .finally(() => {
        this.active.delete(repository);
        this.publish();
      });
    return taskId;
  }

  private async revision(repository: string): Promise<HubRevision> {
    const { host, token } = this.hub;
    return readRevision({ host, token }, repository);
  }

  private async toHubModel(hubRevision: HubRevision): Promise<HubModel> {
    const { repository, revision, license, licenseLink, parameters, files } = hubRevision;
    const folder = this.folderOf(repository);
    await mkdir(this.folder(), { recursive: true });
    const disk = await statfs(this.folder());
    return {
      ...{ repository, revision, license, licenseLink, parameters, folder },
      files: files.length,
      bytes: sizeOf(hubRevision),
      free: disk.bavail * disk.bsize,
      problem: problemOf(hubRevision, folder)?.toApiError() ?? null,
    };
  }

  private publish(): void {
    this.parts.notices.emit('models', {});
  }

  private folder = () => join(this.parts.home, 'models');
  private folderOf = (repository: string) => join(this.folder(), repository.split('/')[1]!);
  private partialOf = (repository: string) =>
    join(this.folder(), `.${repository.replace('/', '--')}${partialSuffix}`);

  private starter(): ModelFolder {
    return {
      name: 'Starter policy',
      folder: join(this.parts.resources, 'starter'),
      source: 'starter',
      repository: null,
    };
  }

  private downloaded(): ModelFolder[] {
    return entriesOf(this.folder()).map((name) => {
      const folder = join(this.folder(), name);
      return { name, folder, source: 'downloaded', repository: readRecord(folder)?.repository ?? null };
    });
  }

  private added(): ModelFolder[] {
    return this.folders().map((folder) => ({
      name: folderName(folder),
      folder,
      source: 'added',
      repository: null,
    }));
  }

  private folders(): string[] {
    try {
      return foldersSchema.parse(JSON.parse(readFileSync(this.foldersPath, 'utf8'))).folders;
    } catch {
      return [];
    }
  }
}

const partialSuffix = '.partial';

/** Returns the latest revision of each model in the Hugging Face cache. */
function cached(environment: NodeJS.ProcessEnv = process.env): ModelFolder[] {
  const cache = hubCache(environment);
  return entriesOf(cache).flatMap((name): ModelFolder[] => {
    const [kind, owner, ...rest] = name.split('--');
    if (kind !== 'models' || owner === undefined || rest.length === 0) return [];
    const snapshots = join(cache, name, 'snapshots');
    const [newest] = entriesOf(snapshots)
      .map((each) => join(snapshots, each))
      .filter((folder) => existsSync(join(folder, 'config.json')))
      .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
    const model = rest.join('--');
    return newest ? [{ name: model, folder: newest, source: 'cache', repository: `${owner}/${model}` }] : [];
  });
}

/** Returns the names in a folder, without hidden ones; an empty list if it is unreadable. */
function entriesOf(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()))
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}

function readRecord(folder: string): z.infer<typeof recordSchema> | null {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(join(folder, recordName), 'utf8')));
  } catch {
    return null;
  }
}

/** Returns the downloaded bytes. */
async function bytesOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = names
    .filter((name) => name !== recordName)
    .map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

const sizeOf = ({ files }: HubRevision) => files.reduce((sum, { size }) => sum + size, 0);
const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;

/** Returns why a revision cannot be downloaded, or null. */
function problemOf({ repository, files, modelType }: HubRevision, folder: string): Failure | null {
  const has = (pattern: RegExp) => files.some(({ name }) => pattern.test(name));
  if (modelType !== null && modelType !== 'qwen2')
    return new Failure(
      'model_unsupported',
      `${repository} is a ${modelType} model; only Qwen2 models are supported.`,
      'Choose a Qwen2 or Qwen2.5 model.',
    );
  if (!has(/^config\.json$/) || !has(/^tokenizer\.json$/) || !has(/\.safetensors$/))
    return new Failure(
      'model_unsupported',
      `${repository} lacks config.json, tokenizer.json or safetensors weights.`,
      'Choose a repository with a complete model in safetensors format.',
    );
  if (existsSync(folder))
    return new Failure(
      'model_exists',
      `${folder} already contains a model.`,
      'Delete it first to download it again.',
    );
  return null;
}

const activeDownload = (repository: string) =>
  new Failure(
    'download_active',
    `${repository} is being downloaded.`,
    'Wait until it finishes, or cancel it.',
  );

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
