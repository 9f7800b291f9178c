import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Notices } from '../base/notices.ts';
import type { Tasks } from '../base/tasks.ts';
import type { HandGame, Input, OwnCommand, OwnEnvironment, Replay, WatchedEpisodes } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { type AddedEnvironment, initialRules, readAdded, writeAdded } from '../environments/added.ts';
import { processEnvironment } from '../environments/process.ts';
import { toReplay } from '../environments/replay.ts';
import { baseConfig, isOwnPreset, ownPresetName } from '../presets/base.ts';
import { environmentOfAdded } from '../presets/own-presets.ts';
import { presets } from '../presets/presets.ts';
import { validateConfig } from '../run-config/validate.ts';
import { requireCheckpoint } from '../run-directory/checkpoints.ts';
import { checkpointPath, slug } from '../run-directory/names.ts';
import type { Runs } from '../runs/runs.ts';
import { commandDigest } from '../trainer/confirmed-commands.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { checkProgram } from './checks.ts';
import { HandGames } from './hand-games.ts';
import { commandOf, type EnvironmentProgram, requireFolder, startProgram } from './program.ts';
import { readWatched, readWatchedEpisode, type Watching, watchEpisodes } from './watching.ts';

interface OwnEnvironmentsParts {
  home: string;
  resources: string;
  runs: Runs;
  trainer: Trainer;
  notices: Notices;
  tasks: Tasks;
}

/** Seed of the level that is started when an environment is added. */
const firstSeed = 10_000;

const { answer_seconds: answerLimit } = processEnvironment.preset.config as { answer_seconds: number };

/** The environments that the user has added: their list, checks, play by hand and episodes of a policy. Their programs end with this process. */
export class OwnEnvironments {
  private readonly parts: OwnEnvironmentsParts;
  /** Episodes that users play by hand. */
  readonly games = new HandGames();

  constructor(parts: OwnEnvironmentsParts) {
    this.parts = parts;
  }

  /** Throws `environments_unreadable`. */
  list(): OwnEnvironment[] {
    const digests = this.parts.trainer.confirmed?.digests() ?? [];
    return readAdded(this.parts.home).map(({ preset, ...added }) => {
      return {
        ...added,
        ...{ confirmed: digests.includes(commandDigest(added)), preset: preset ? ownPresetName(added) : null },
      };
    });
  }

  /** See `environments.add` of the API. */
  async add({ name, ...target }: Input<'environments.add'>): Promise<OwnEnvironment> {
    const own = commandOfTarget(target);
    this.requireConfirmed(own);
    const { hello, program } = await startProgram(own);
    const actions = hello.actions ?? (await firstActions(program));
    program.kill();
    // Read after the pause, in which another environment may have been added.
    const all = readAdded(this.parts.home);
    const same = all.find((each) => commandDigest(each) === commandDigest(own));
    if (same)
      throw new Failure(
        'environment_exists',
        `This command was already added as "${same.name}".`,
        'Choose it from the list.',
      );
    const title = (name ?? hello.name).trim().slice(0, 40) || 'Environment';
    const added: AddedEnvironment = {
      id: freeId(slug(title, 20) || 'environment', all),
      name: title,
      ...own,
      actions,
      rules: initialRules,
      checks: null,
      preset: false,
    };
    this.write([...all, added]);
    return this.get(added.id);
  }

  update({ id, name, rules, preset }: Input<'environments.update'>): OwnEnvironment {
    this.change(id, (old) => ({
      ...old,
      ...(name !== undefined && { name: name.trim() || old.name }),
      ...(rules && { rules }),
      ...(preset !== undefined && { preset }),
    }));
    return this.get(id);
  }

  async remove(id: string): Promise<void> {
    this.find(id);
    this.games.end(id);
    this.write(readAdded(this.parts.home).filter((each) => each.id !== id));
    await rm(this.folder(id), { recursive: true, force: true });
  }

  /** See `environments.check` of the API. */
  async check(id: string): Promise<OwnEnvironment> {
    const added = this.find(id);
    this.requireConfirmed(added);
    const { notices, tasks } = this.parts;
    const task = { kind: 'environment_check', runId: null, title: `Checking ${added.name}`, cancelable: true };
    const rows = await tasks.run(task, ({ signal }) =>
      checkProgram(added, answerLimit, {
        signal,
        onRows: (rows) => notices.emit('environmentCheck', { id, rows: [...rows] }),
      }),
    );
    this.change(id, (old) => ({ ...old, checks: { time: Date.now(), rows } }));
    return this.get(id);
  }

  /** See `environments.play` of the API. */
  play(client: object, id: string, seed: number): Promise<HandGame> {
    const added = this.find(id);
    this.requireConfirmed(added);
    return this.games.play(client, added, seed);
  }

  /** See `environments.watch` of the API. */
  async watch(id: string, policy: WatchedEpisodes['policy']): Promise<WatchedEpisodes> {
    const added = this.find(id);
    this.requireConfirmed(added);
    this.parts.trainer.require();
    const watching = { ...(await this.policyOf(added, policy)), folder: this.folder(id), policy };
    // The run of the policy can have a reward program.
    this.parts.trainer.confirmed?.require(watching.config);
    const task = { kind: 'environment_watch', runId: null, title: `Playing ${added.name}`, cancelable: true };
    await this.parts.tasks.run(task, (control) => watchEpisodes(this.parts.trainer, watching, control));
    return (await this.watched(id))!;
  }

  watched(id: string): Promise<WatchedEpisodes | null> {
    this.find(id);
    return readWatched(this.folder(id));
  }

  async replay(id: string, episodeId: string): Promise<Replay> {
    this.find(id);
    return toReplay(await readWatchedEpisode(this.folder(id), episodeId));
  }

  close(): void {
    this.games.close();
  }

  /** Returns the weights of a policy and a configuration for playing the environment. */
  private async policyOf(
    added: AddedEnvironment,
    policy: WatchedEpisodes['policy'],
  ): Promise<Pick<Watching, 'model' | 'config'>> {
    const { runs, resources } = this.parts;
    if (!policy) {
      const model = join(resources, baseConfig.start.model);
      const start = { ...baseConfig.start, model };
      return { model, config: { ...baseConfig, start, environments: [environmentOfAdded(added)] } };
    }
    const folder = runs.folder(runs.require(policy.run));
    requireCheckpoint(folder, policy.checkpoint);
    const config = validateConfig(await runs.config(policy.run));
    const own = config.environments.find(({ label }) => label === added.id);
    const prompt = own?.prompt ?? (readsBareStates(config.preset) ? undefined : processEnvironment.chatPrompt);
    const environments = [environmentOfAdded(added, prompt)];
    return { model: join(folder, checkpointPath(policy.checkpoint)), config: { ...config, environments } };
  }

  private requireConfirmed(own: OwnCommand): void {
    this.parts.trainer.confirmed?.require({ environments: [environmentOf(own)], reward: null });
  }

  private find(id: string): AddedEnvironment {
    const found = readAdded(this.parts.home).find((each) => each.id === id);
    if (found) return found;
    throw new Failure(
      'environment_unknown',
      `The environment ${id} was not found.`,
      'It may have been removed. Add it again.',
    );
  }

  private get(id: string): OwnEnvironment {
    this.find(id);
    return this.list().find((each) => each.id === id)!;
  }

  private change(id: string, change: (old: AddedEnvironment) => AddedEnvironment): void {
    this.find(id);
    this.write(readAdded(this.parts.home).map((each) => (each.id === id ? change(each) : each)));
  }

  private write(environments: readonly AddedEnvironment[]): void {
    writeAdded(this.parts.home, environments);
    this.parts.notices.emit('environments', { environments: this.list() });
  }

  private folder(id: string): string {
    return join(this.parts.home, 'environments', id);
  }
}

const environmentOf = ({ command, directory }: OwnCommand) => ({
  ...processEnvironment.preset,
  config: { ...processEnvironment.preset.config, command, directory },
});

/** Returns whether the policies of a preset were trained on states without instructions, as the starter policy was. */
const readsBareStates = (preset: string): boolean =>
  isOwnPreset(preset) || presets.some(({ id, model }) => id === preset && model === null);

/** Returns the command of a new environment. Throws `directory_missing` or `address_invalid`. */
function commandOfTarget(target: OwnCommand | { address: string }): OwnCommand {
  if ('address' in target) return { command: commandOfAddress(target.address.trim()), directory: homedir() };
  const { command, directory } = target;
  requireFolder(directory);
  return { command, directory };
}

function freeId(id: string, all: readonly AddedEnvironment[]): string {
  const isTaken = (name: string) => name === 'train' || all.some((each) => each.id === name);
  let free = id;
  for (let number = 2; isTaken(free); number++) free = `${id}-${number}`;
  return free;
}

/** Returns the command of the client that plays an OpenEnv server. */
function commandOfAddress(address: string): string {
  const command = commandOf(address);
  if (command !== address) return command;
  throw new Failure(
    'address_invalid',
    `"${address}" is not an address.`,
    'Use an address that begins with http://, https://, ws:// or wss://.',
  );
}

/** Returns the valid actions of the first level, which a program may report instead of actions for all levels. Returns null for free text. */
const firstActions = (program: EnvironmentProgram): Promise<string[] | null> =>
  program.reset(program.newEpisode(), firstSeed).then(
    ({ actions }) => actions ?? null,
    () => null, // The checks report why a level can't be started.
  );
