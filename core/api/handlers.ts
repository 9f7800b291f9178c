import { cpus } from 'node:os';
import { eventsAfter, findRollout, listRollouts, readLog, readSeries } from '../history/queries.ts';
import type { Core } from '../index.ts';
import { toReplay } from '../replay/replay.ts';
import { presets } from '../run-config/presets.ts';
import { parseEpisodeId } from '../run-directory/names.ts';
import { type RolloutPaths, readEpisode, readEpisodes } from '../run-directory/rollouts.ts';
import type { Input, Output, PresetCard, ProcedureName, SystemInfo } from './contract.ts';
import { asFailure, Failure } from './failure.ts';

export type Handlers = { [P in ProcedureName]: (input: Input<P>) => Output<P> | Promise<Output<P>> };

/** What each procedure does; input has been checked. */
export function createHandlers(core: Core): Handlers {
  const { database, runs } = core;
  return {
    'system.info': () => systemInfo(core),
    'trainer.require': () => {
      core.trainer.require();
      return {};
    },
    'history.rebuild': () => core.supervisor.rebuild(),
    'presets.list': () => presetCards(),
    'runs.list': () => runs.list(),
    'runs.get': async ({ runId }) => {
      const config = await runs.config(runId);
      return { summary: runs.get(runId), config, folder: runs.folder(runId) };
    },
    'runs.create': async ({ preset, set, start }) => {
      if (start) core.trainer.require();
      const runId = await runs.create({ preset, set });
      if (start) await runs.start(runId);
      return { runId };
    },
    'runs.start': async ({ runId }) => {
      await runs.start(runId);
      return {};
    },
    'runs.command': ({ runId, command }) => runs.command(runId, command),
    'runs.series': ({ runId, names, after }) => {
      runs.get(runId);
      return readSeries(database, runId, names, after);
    },
    'runs.log': ({ runId }) => {
      runs.get(runId);
      return readLog(database, runId);
    },
    'runs.events': ({ runId, after }) => {
      runs.get(runId);
      return eventsAfter(database, runId, after, { phases: false }).map(({ body, ...event }) => ({
        ...event,
        body: JSON.parse(body),
      }));
    },
    'rollouts.list': ({ runId }) => {
      runs.get(runId);
      return listRollouts(database, runId);
    },
    'rollouts.episodes': ({ runId, iteration, split }) =>
      readEpisodes(runs.folder(runId), rolloutPaths(core, runId, iteration, split)),
    'rollouts.replay': async ({ runId, episodeId }) => {
      const parts = parseEpisodeId(episodeId);
      if (!parts)
        throw new Failure(
          'episode_unknown',
          `There is no episode ${episodeId}.`,
          'Choose one from the list of episodes.',
        );
      const paths = rolloutPaths(core, runId, parts.iteration, parts.split);
      return toReplay(await readEpisode(runs.folder(runId), paths, episodeId));
    },
  };
}

function rolloutPaths(core: Core, runId: string, iteration: number, split: string): RolloutPaths {
  core.runs.get(runId);
  const paths = findRollout(core.database, runId, iteration, split);
  if (paths) return paths;
  throw new Failure(
    'rollout_unknown',
    `The run ${runId} has no episodes of ${split} at iteration ${iteration}.`,
    'Choose from the list of rollouts.',
  );
}

function presetCards(): PresetCard[] {
  return presets
    .filter((preset) => !preset.hidden)
    .map(({ config, hidden: _, ...card }) => ({ ...card, iterations: config.iterations }));
}

/** What this machine has; a trainer that can't be used is a fact, not a failure. */
export async function systemInfo({ version, home, trainer }: Core): Promise<SystemInfo> {
  const info = { version, dataFolder: home, cores: cpus().length };
  try {
    const { devices, build } = await trainer.devices();
    return { ...info, trainer: { path: trainer.path, build, problem: null }, devices };
  } catch (error) {
    const { message, hint } = asFailure(error);
    return {
      ...info,
      trainer: { path: trainer.path, build: null, problem: `${message} ${hint}` },
      devices: [],
    };
  }
}
