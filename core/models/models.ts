import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { Notices } from '../base/notices.ts';
import type { Tasks } from '../base/tasks.ts';
import type { ModelEntry, RunCheckpoints } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { cachedModels, namesIn } from '../presets/hub-cache.ts';
import { checkpointsOf } from '../run-directory/checkpoints.ts';
import { filesBytes } from '../run-directory/measure.ts';
import { checkpointPath, wholeWeights } from '../run-directory/names.ts';
import { readJsonFile } from '../run-directory/parse-line.ts';
import { writeWhole } from '../run-directory/write-whole.ts';
import type { Runs } from '../runs/runs.ts';
import { describeModel, folderName, type ModelFolder } from './describe.ts';
import { Downloads, readDownloadRecord } from './downloads.ts';
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

/** Local model folders, and downloads from a hub. */
export class Models {
  readonly hub: HubSettingsStore;
  readonly downloads: Downloads;
  private readonly parts: ModelsParts;
  private readonly folder: string;
  private readonly foldersPath: string;

  constructor(parts: ModelsParts) {
    this.parts = parts;
    this.hub = new HubSettingsStore(parts.home, parts.secrets);
    this.folder = join(parts.home, 'models');
    this.foldersPath = join(parts.home, 'models.json');
    const { tasks, retryDelay } = parts;
    this.downloads = new Downloads({
      ...{ folder: this.folder, hub: this.hub, tasks, retryDelay },
      onChange: () => this.publish(),
    });
  }

  /** Lists the starter policy first, then downloaded, added and cached models. */
  async list(): Promise<ModelEntry[]> {
    const models = [this.starter(), ...this.downloaded(), ...this.added(), ...cached()];
    const isFirst = (model: ModelFolder, index: number) =>
      models.findIndex(({ folder }) => folder === model.folder) === index;
    return Promise.all(models.filter(isFirst).map(describeModel));
  }

  /** Lists the checkpoints of each run, in the order of the run list. */
  async checkpoints(): Promise<RunCheckpoints[]> {
    const all = this.parts.runs.list().map(async ({ id, name }): Promise<RunCheckpoints[]> => {
      const folder = this.parts.runs.folder(id);
      const iterations = checkpointsOf(folder).toReversed();
      if (iterations.length === 0) return [];
      const bytes = await filesBytes(
        iterations.map((iteration) => join(folder, checkpointPath(iteration), wholeWeights)),
      );
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
        'Choose the folder with config.json, tokenizer.json and the safetensors files.',
      );
    const folders = this.folders();
    if (!folders.includes(path)) writeWhole(this.foldersPath, { version: 1, folders: [...folders, path] });
    this.publish();
  }

  /** Removes an added folder from the list. */
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
        'It may have been deleted already. To remove an added folder from the list, use Remove on the Models page; its files are kept.',
      );
    await rm(model.folder, { recursive: true });
    this.publish();
  }

  private publish(): void {
    this.parts.notices.emit('models', {});
  }

  private starter(): ModelFolder {
    return {
      name: 'Starter policy',
      folder: join(this.parts.resources, 'starter'),
      source: 'starter',
      repository: null,
    };
  }

  private downloaded(): ModelFolder[] {
    return namesIn(this.folder).map((name) => {
      const folder = join(this.folder, name);
      return {
        name,
        folder,
        source: 'downloaded',
        repository: readDownloadRecord(folder)?.repository ?? null,
      };
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
    return readJsonFile(foldersSchema, this.foldersPath)?.folders ?? [];
  }
}

/** Returns the models in the Hugging Face cache. */
function cached(): ModelFolder[] {
  return cachedModels().map(({ repository, folder }) => ({
    name: repository.split('/')[1]!,
    folder,
    source: 'cache',
    repository,
  }));
}
