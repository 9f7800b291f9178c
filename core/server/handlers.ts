import { cpus } from 'node:os';
import type { EpisodeFileName, Handlers, SystemInfo } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { toReplay } from '../environments/replay.ts';
import { eventsAfter, findRollout, listRollouts, readLog, readMemoryPlan } from '../history/queries.ts';
import type { Core } from '../index.ts';
import { modelHandlers } from '../models/procedures.ts';
import { readHumanSuccess } from '../play/human-success.ts';
import { playHandlers } from '../play/procedures.ts';
import { findPreset } from '../presets/presets.ts';
import { createAndLaunch } from '../queue/create-and-launch.ts';
import { parseEpisodeId, trainSplit } from '../run-directory/names.ts';
import {
  type RolloutPaths,
  readEpisode,
  readEpisodes,
  readRawEpisode,
  unknownEpisode,
} from '../run-directory/rollouts.ts';
import { readThoughts } from '../run-directory/thoughts.ts';
import { diagnosticTexts, writeZip } from '../system/diagnostics.ts';
import { findingsOf } from '../system/findings.ts';
import { configurationHandlers } from './configuration-handlers.ts';
import { libraryHandlers } from './library-handlers.ts';
import type { Session } from './session.ts';

/** The state of the calling client. */
type ClientState = Pick<Session, 'subscribe' | 'acknowledge'>;
const noClient: ClientState = { subscribe: () => {}, acknowledge: () => {} };

/** Returns the handlers of all procedures. Their input has been validated. */
export function createHandlers(core: Core, session: ClientState = noClient): Handlers {
  const { database, evaluations, runs, studies, tasks } = core;
  return {
    ...libraryHandlers(core),
    'notices.subscribe': (topics) => session.subscribe(topics),
    'notices.acknowledge': (answer) => session.acknowledge(answer),
    'tasks.list': () => tasks.list(),
    'tasks.cancel': ({ taskId }) => tasks.cancel(taskId),
    'history.ready': () => core.ready,
    'system.info': () => systemInfo(core),
    'trainer.require': () => core.trainer.require(),
    'history.rebuild': () =>
      tasks.run(
        { kind: 'rebuild', runId: null, title: 'Rebuilding the run history', cancelable: true },
        (control) => core.supervisor.rebuild(control),
      ),
    'presets.config': ({ preset }) => ({ config: findPreset(preset).config }),
    ...configurationHandlers(core),
    'runs.list': () => runs.list(),
    'runs.get': async ({ runId }) => {
      const config = await runs.config(runId);
      return {
        summary: runs.get(runId),
        config,
        folder: runs.folder(runId),
        memoryPlan: readMemoryPlan(database, runId),
        humanSuccess: readHumanSuccess(runs.folder(runId)),
      };
    },
    'runs.create': async ({ start, queue, ...newRun }) => ({
      runId: await createAndLaunch(core, newRun, { start, queue }),
    }),
    'runs.start': ({ runId }) => runs.start(runId),
    'runs.command': ({ runId, command, ...args }) => runs.command(runId, command, args),
    'runs.series': ({ runId, ...range }) => {
      runs.require(runId);
      return core.history.reader.call('series', { runId, range });
    },
    'runs.times': ({ runId }) => {
      runs.require(runId);
      return core.history.reader.call('times', runId);
    },
    'runs.log': ({ runId }) => {
      runs.require(runId);
      return readLog(database, runId);
    },
    'runs.events': ({ runId, after }) => {
      runs.require(runId);
      return eventsAfter(database, runId, after).map(({ body, ...event }) => ({
        ...event,
        body: JSON.parse(body),
      }));
    },
    'runs.adopt': async ({ runId }) => {
      await core.supervisor.add(runId);
      return runs.get(runId);
    },
    'runs.storage': ({ runId }) => core.storage.of(runId),
    'runs.annotate': (input) => core.annotations.annotate(input),
    'alerts.list': ({ runId }) => core.annotations.alerts(runId),
    'alerts.answer': (input) => core.annotations.answer(input),
    'echoTrap.state': ({ runId }) => {
      runs.require(runId);
      return core.supervisor.trap(runId);
    },
    'echoTrap.act': (input) => core.alertActions.act(input),
    'queue.list': () => {
      const { queue } = core;
      return { runs: queue.list(), problem: queue.problem(), working: queue.working };
    },
    'queue.add': ({ runId }) => ({ position: core.queue.add(runId) }),
    'queue.work': async () => {
      await core.ready;
      core.queue.work();
    },
    'queue.remove': ({ runId }) => core.queue.remove(runId),
    'queue.move': ({ runId, position }) => ({ position: core.queue.move(runId, position) }),
    'studies.list': () => studies.list(),
    'studies.get': ({ studyId }) => studies.get(studyId),
    'studies.create': async (input) => studies.summary(await studies.create(input)),
    'studies.start': async ({ studyId }) => {
      await studies.start(studyId);
      return studies.summary(studyId);
    },
    'studies.cancel': async ({ studyId }) => {
      await studies.cancel(studyId);
      return studies.summary(studyId);
    },
    'studies.delete': ({ studyId, runs: withRuns }) => studies.delete(studyId, withRuns),
    'studies.trashed': () => studies.trashed(),
    'studies.restore': async ({ studyId, ids }) => {
      await studies.restore(studyId, ids);
      return studies.summary(studyId);
    },
    'rollouts.list': ({ runId }) => {
      runs.require(runId);
      return listRollouts(database, runId);
    },
    'rollouts.episodes': ({ runId, iteration, split }) =>
      reading(core, runId, iteration, split, readEpisodes),
    'rollouts.thoughts': async ({ runId, iteration, split = trainSplit }) => ({
      iteration,
      split,
      ...(await reading(core, runId, iteration, split, readThoughts)),
      iterations: listRollouts(database, runId)
        .filter((file) => file.split === split)
        .map((file) => file.iteration),
    }),
    'rollouts.replay': async ({ runId, episodeId }) =>
      toReplay(
        await readingEpisode(core, runId, null, episodeId, (folder, paths) =>
          readEpisode(folder, paths, episodeId),
        ),
      ),
    'rollouts.level': async ({ runId, group, files }) => {
      runs.require(runId);
      return Promise.all(
        files.map(async ({ iteration, split, evaluation }) => {
          const paths = evaluation
            ? await evaluations.paths(runId, evaluation).catch(() => undefined)
            : findRollout(database, runId, iteration, split);
          const episodes = paths ? await readEpisodes(runs.folder(runId), paths).catch(() => []) : [];
          return episodes.find((episode) => episode.group === group && episode.member === 0) ?? null;
        }),
      );
    },
    'rollouts.boards': async ({ runId, iteration, split, evaluation, group }) => ({
      iteration,
      split,
      ...(await readingFile(core, runId, { iteration, split, evaluation }, (folder, paths) =>
        core.episodes.call('boards', { folder, paths, group }),
      )),
    }),
    'rollouts.tokens': ({ runId, evaluation, episodeId }) =>
      readingEpisode(core, runId, evaluation, episodeId, (folder, paths) =>
        core.episodes.call('tokens', { folder, paths, episodeId }),
      ),
    'rollouts.episode': ({ runId, evaluation, episodeId }) =>
      readingEpisode(core, runId, evaluation, episodeId, (folder, paths) =>
        readRawEpisode(folder, paths, episodeId),
      ),
    'evaluations.choices': ({ runId }) => evaluations.choices(runId),
    'evaluations.start': ({ runId, ...options }) => evaluations.start(runId, options),
    'evaluations.list': ({ runId }) => evaluations.list(runId),
    'evaluations.get': ({ runId, name }) => evaluations.get(runId, name),
    'evaluations.cancel': ({ runId, name }) => evaluations.cancel(runId, name),
    'evaluations.episodes': async ({ runId, name }) =>
      readEpisodes(runs.folder(runId), await evaluations.paths(runId, name)),
    'evaluations.replay': async ({ runId, name, episodeId }) => {
      const paths = await evaluations.paths(runId, name);
      return toReplay(await readEpisode(runs.folder(runId), paths, episodeId));
    },
    'machine.gauges': () => core.gauges.read(),
    'machine.findings': async () => findingsOf(await systemInfo(core), core.resources),
    'machine.diagnostics': async () => {
      const info = await systemInfo(core);
      const { home, version, recentLog } = core;
      const findings = findingsOf(info, core.resources);
      const facts = { home, version, info, findings, machine: core.gauges.machine(), runs: runs.list() };
      const texts = await diagnosticTexts({ ...facts, log: recentLog.text() });
      return core.exports.add('starpo-diagnostics.zip', (path) => writeZip(path, texts));
    },
    'exports.make': (request) => core.exports.make(request),
    'exports.text': async (request) => ({ text: await core.exports.text(request) }),
    'exports.forget': ({ exportId }) => core.exports.forget(exportId),
    'tensorBoard.get': () => core.tensorBoard.state,
    'tensorBoard.set': ({ on }) => core.tensorBoard.set(on),
    ...modelHandlers(core.models, core),
    ...playHandlers(core.games, session),
    'sample.get': () => core.sample.get(),
  };
}

/**
 * Reads episodes of one iteration. Throws `rollout_unknown`, or `rollout_gone` if the run has deleted them, even during the read: the journal
 * records a deletion before the files are removed.
 */
async function reading<T>(
  core: Core,
  runId: string,
  iteration: number,
  split: string,
  read: (folder: string, paths: RolloutPaths) => Promise<T>,
): Promise<T> {
  const paths = rolloutPaths(core, runId, iteration, split);
  try {
    return await read(core.runs.folder(runId), paths);
  } catch (error) {
    if (asFailure(error).code !== 'rollout_missing') throw error;
    await core.supervisor.refresh(runId);
    rolloutPaths(core, runId, iteration, split);
    throw error;
  }
}

/** Reads episodes of an iteration or of an evaluation on request. */
async function readingFile<T>(
  core: Core,
  runId: string,
  { iteration, split, evaluation }: EpisodeFileName,
  read: (folder: string, paths: RolloutPaths) => Promise<T>,
): Promise<T> {
  if (evaluation === null) return reading(core, runId, iteration, split, read);
  return read(core.runs.folder(runId), await core.evaluations.paths(runId, evaluation));
}

/** Reads the episode from the file named by its id. Also throws `episode_unknown`. */
async function readingEpisode<T>(
  core: Core,
  runId: string,
  evaluation: string | null,
  episodeId: string,
  read: (folder: string, paths: RolloutPaths) => Promise<T>,
): Promise<T> {
  const parts = parseEpisodeId(episodeId);
  if (!parts) throw unknownEpisode(episodeId);
  return readingFile(core, runId, { ...parts, evaluation }, read);
}

function rolloutPaths(core: Core, runId: string, iteration: number, split: string): RolloutPaths {
  core.runs.require(runId);
  const paths = findRollout(core.database, runId, iteration, split);
  if (!paths)
    throw new Failure(
      'rollout_unknown',
      `Run ${runId} has no ${split} episodes at iteration ${iteration}.`,
      'Choose an iteration from the list of rollouts.',
    );
  if (paths.removed)
    throw new Failure(
      'rollout_gone',
      `The ${split} episodes at iteration ${iteration} were deleted, as rollout_files allows.`,
      'Choose another iteration. Evaluations are always kept.',
    );
  return paths;
}

/** Describes this machine. An unusable trainer is reported in the result, not thrown. */
export async function systemInfo({
  version,
  home,
  trainer,
  history,
}: Pick<Core, 'version' | 'home' | 'trainer'> & {
  history: Pick<Core['history'], 'readOnly'>;
}): Promise<SystemInfo> {
  const readOnly = history.readOnly?.toApiError() ?? null;
  const info = { version, dataFolder: home, cores: cpus().length, readOnly };
  try {
    const { devices, build, cuda } = await trainer.devices();
    return { ...info, trainer: { path: trainer.path, build, problem: null, building: null }, devices, cuda };
  } catch (error) {
    const { message, hint } = asFailure(error);
    return {
      ...info,
      trainer: { path: trainer.path, build: null, problem: `${message} ${hint}`, building: trainer.building },
      devices: [],
      cuda: null,
    };
  }
}
