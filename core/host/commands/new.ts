import { resolve } from 'node:path';
import type { Client } from '../../contract/client.ts';
import type { Input, NewRunMarks, RunSource } from '../../contract/contract.ts';
import { Failure, ignoring, messageOf } from '../../contract/failure.ts';
import { presetWithModelOf } from '../../presets/presets.ts';
import type { RunConfig } from '../../run-config/run-config.ts';
import type { Setting } from '../../run-config/settings.ts';
import { newRunId } from '../../run-directory/names.ts';
import { requireJsonFile } from '../../run-directory/parse-line.ts';
import { print } from '../output.ts';
import { resolveRun, resolveSource } from '../run-reference.ts';
import { withClient } from './with-client.ts';

export interface NewRunOptions {
  home?: string | undefined;
  source: RunSource;
  set: Record<string, Setting>;
  /** Its name, tags and note. */
  marks: NewRunMarks;
}

export async function newRun({ home, ...run }: NewRunOptions): Promise<void> {
  const create = newRunFrom(run, { start: false });
  const folder = async (client: Client) => (await client.call('runs.get', { runId: await create(client) })).folder;
  print(await withClient(home, folder, { repeatable: true }));
}

type Launch = Pick<Input<'runs.create'>, 'start' | 'queue' | 'startable'>;

/** Returns a function that creates a run and returns its id. Called again after a lost connection, it does not create a second run. */
export function newRunFrom({ source, set, marks }: Omit<NewRunOptions, 'home'>, launch: Launch) {
  let resolved: RunSource;
  return once(launch, {
    prepare: async (client) => {
      resolved = await resolveSource(client, source);
      return presetOf(client, resolved);
    },
    create: (client, id) => client.call('runs.create', { ...resolved, id, set, ...marks, ...launch }),
  });
}

/** Like {@link newRunFrom}, for a run that extends a completed one. */
export function extension(named: string, iterations: number, launch: Launch) {
  let runId: string;
  return once(launch, {
    prepare: async (client) => {
      runId = await resolveRun(client, named);
      return presetOf(client, { run: runId });
    },
    create: (client, id) => client.call('runs.trainMore', { runId, id, iterations, ...launch }),
  });
}

const presetOf = async (client: Client, source: RunSource) =>
  (await client.call('configs.load', source)).config.preset as string;

interface Creation {
  /** Returns the preset of the new run. */
  prepare: (client: Client) => Promise<string>;
  create: (client: Client, id: string) => Promise<unknown>;
}

/** Chooses the id before the first request, so that a repeated request can't create another run. */
function once({ queue = false }: Launch, { prepare, create }: Creation): (client: Client) => Promise<string> {
  let runId: string | null = null;
  return async (client) => {
    if (runId === null) {
      const id = newRunId(await prepare(client));
      runId = id;
      await create(client, id);
      return id;
    }
    await create(client, runId).catch(ignoring('run_exists'));
    const { status } = (await client.call('runs.get', { runId })).summary;
    if (queue && status === 'created') await client.call('queue.add', { runId });
    return runId;
  };
}

export interface SourceFlags {
  from?: string;
  keepOptimizer?: boolean;
  config?: string;
}

/** Returns the source of a new run. `help` is the command that shows the help. Throws `usage_invalid` unless exactly one is given, or `config_unreadable`. */
export function sourceOf(
  preset: string | undefined,
  { from, keepOptimizer = false, config }: SourceFlags,
  help: string,
): RunSource {
  const usage = (message: string) =>
    new Failure(
      'usage_invalid',
      message,
      `Give a preset, --from RUN, --from RUN@ITERATION or --config FILE. See ${help}.`,
    );
  const given = [preset, from, config].filter((each) => each !== undefined);
  if (given.length === 0) throw usage('Name a preset, a run or a configuration.');
  if (given.length > 1) throw usage('Name only one of a preset, a run and a configuration.');
  // A name may contain @ too.
  const [, run, iteration] = /^(.*?)(?:@(\d{1,7}))?$/s.exec(from ?? '') ?? [];
  if (keepOptimizer && iteration === undefined)
    throw new Failure(
      'usage_invalid',
      '--keep-optimizer needs a checkpoint.',
      `Use --from RUN@ITERATION. See ${help}.`,
    );
  if (preset !== undefined) return { preset };
  if (config !== undefined) return { config: readConfigFile(config) };
  if (!run?.trim()) throw usage(`"${from}" is not a run or a checkpoint (run@iteration).`);
  return iteration === undefined ? { run } : { run, checkpoint: Number(iteration), keepOptimizer };
}

/** Resolves model paths here, since the host may run in another working directory. */
export function withAbsoluteFolders<T>(config: T): T {
  const sections = structuredClone(config) as Record<string, Record<string, unknown> | undefined>;
  // The host finds the model of a preset by its name.
  const hasPresetModel = presetWithModelOf(config as RunConfig) !== null;
  for (const [section, key] of [
    ['start', 'model'],
    ['kl', 'reference'],
  ] as const)
    if (sections[section]?.[key] && !(key === 'model' && hasPresetModel))
      sections[section][key] = resolve(String(sections[section][key]));
  return sections as T;
}

/** Like {@link withAbsoluteFolders}, for settings. Changes them in place. */
export function resolveFolders(set: Record<string, Setting>): void {
  for (const key of ['start.model', 'kl.reference'])
    if (typeof set[key] === 'string' && set[key] !== '') set[key] = resolve(set[key]);
}

/** Throws `config_unreadable`. */
function readConfigFile(path: string): Record<string, unknown> {
  const unreadable = (problem: string) =>
    new Failure(
      'config_unreadable',
      `${path} ${problem}.`,
      'Give a complete run.json as described in docs/formats/run-config.md. `starpo import-ragen` converts configurations of RAGEN, verl-agent and TRL.',
    );
  let config: unknown;
  try {
    config = requireJsonFile(path);
  } catch (error) {
    throw unreadable(messageOf(error));
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) throw unreadable('is not a JSON object');
  return withAbsoluteFolders(config as Record<string, unknown>);
}
