import { hostname } from 'node:os';
import { availableCores } from '../base/limits.ts';
import type { Handlers, PresetCard, SystemInfo } from '../contract/contract.ts';
import { asFailure } from '../contract/failure.ts';
import { revision } from '../contract/revision.ts';
import { toReplay } from '../environments/replay.ts';
import {
  eventsAfter,
  findRollout,
  listRollouts,
  readFirstStepCheck,
  readLog,
  readMemoryPlan,
} from '../history/queries.ts';
import { unreadableFolders } from '../history/unreadable.ts';
import type { Core } from '../index.ts';
import { inspectModel } from '../models/inspect.ts';
import { readHumanSuccess } from '../play/human-success.ts';
import { configForm } from '../presets/form.ts';
import { ownPresets } from '../presets/own-presets.ts';
import { findPreset, presets } from '../presets/presets.ts';
import { createAndLaunch } from '../queue/create-and-launch.ts';
import { paperStudies } from '../reproduce/paper-facts.ts';
import { paperModels } from '../reproduce/ragen-sweeps.ts';
import { trainSplit } from '../run-directory/names.ts';
import { readEpisode, readEpisodes, readRawEpisode } from '../run-directory/rollouts.ts';
import { readThoughts } from '../run-directory/thoughts.ts';
import { checkConfig, keyed, titled } from '../runs/check-config.ts';
import { extensionOf } from '../runs/extend.ts';
import { loadConfig } from '../runs/load-config.ts';
import { previewConfig } from '../runs/preview-config.ts';
import { settingsOfRuns } from '../runs/settings-of-runs.ts';
import { diagnosticTexts, writeZip } from '../system/diagnostics.ts';
import { findingsOf } from '../system/findings.ts';
import { actOnJob, clusterTargets, planJobs, setNice, submitRun, submitStudy } from './cluster.ts';
import { readFromEpisode, readFromFile, readFromRollout } from './read-episodes.ts';
import type { Session } from './session.ts';

/** The methods of the calling client's session. */
type ClientSession = Pick<Session, 'subscribe' | 'acknowledge'>;
const noClient: ClientSession = { subscribe: () => {}, acknowledge: () => {} };

/** Returns the handlers of all procedures. Their input has been validated. */
export function createHandlers(core: Core, session: ClientSession = noClient): Handlers {
  const { database, evaluations, games, models, ownEnvironments, runs, studies, tasks } = core;
  return {
    'runs.sizes': () => core.sizes.all(),
    'runs.delete': ({ runIds }) => core.trash.delete(runIds),
    'runs.clean': ({ runIds, ...cleaning }) => core.cleaner.clean(runIds, cleaning),
    'runs.cleanable': ({ runIds }) => core.cleaner.estimate(runIds),
    'trash.list': () => core.trash.list(),
    'trash.restore': ({ ids }) => core.trash.restore(ids),
    'trash.empty': async () => ({ bytes: await core.trash.empty() }),
    'checkpoints.list': ({ runId }) => core.checkpoints.list(runId),
    'checkpoints.pin': ({ runId, iteration, pinned }) => core.checkpoints.pin(runId, iteration, pinned),
    'bundles.export': ({ runId, ...choice }) => core.bundles.export(runId, choice),
    'uploads.begin': ({ bytes }) => core.imports.begin(bytes),
    'uploads.drop': ({ files }) => core.imports.drop(files),
    'imports.inspect': ({ uploads, from }) => core.imports.inspect(uploads, from),
    'imports.run': async (request) => ({ runId: await core.imports.run(request) }),
    'episodes.search': (query) => core.history.reader.call('search', query),
    'notices.subscribe': (topics) => session.subscribe(topics),
    'notices.acknowledge': (answer) => session.acknowledge(answer),
    'tasks.list': () => tasks.list(),
    'tasks.cancel': ({ taskId }) => tasks.cancel(taskId),
    'history.ready': () => core.ready,
    'system.info': () => systemInfo(core),
    'trainer.require': () => core.trainer.require(),
    'commands.confirm': (command) => core.trainer.confirmed?.confirm(command),
    'history.rebuild': () =>
      tasks.run({ kind: 'rebuild', runId: null, title: 'Rebuilding the run history', cancelable: true }, (control) =>
        core.supervisor.rebuild(control),
      ),
    'presets.config': ({ preset }) => ({ config: findPreset(preset, ownPresets(core.home)).config }),
    'presets.list': () => presetCards(core),
    'configs.form': () => configForm(),
    'configs.load': (source) => loadConfig(core, source),
    'configs.import': async ({ files, overrides }) => {
      // The YAML parser is loaded only when it is needed.
      const { importConfig } = await import('../config-imports/import-config.ts');
      return importConfig(files, overrides);
    },
    'configs.check': ({ titles, ...newRun }) => checkConfig(core, newRun, titles ? titled : keyed),
    'configs.preview': (newRun) => previewConfig(core, newRun),
    'runs.trainMore': async ({ runId, id, iterations, name, ...launch }) => {
      const extension = extensionOf(core.home, core.runs.get(runId), iterations);
      return { runId: await createAndLaunch(core, { ...extension, id, name }, launch) };
    },
    'runs.list': () => runs.list(),
    'runs.unreadable': () => unreadableFolders(database, core.home),
    'runs.get': async ({ runId }) => {
      const config = await runs.config(runId);
      return {
        summary: runs.get(runId),
        config,
        folder: runs.folder(runId),
        memoryPlan: readMemoryPlan(database, runId),
        firstStepCheck: readFirstStepCheck(database, runId),
        humanSuccess: readHumanSuccess(runs.folder(runId)),
      };
    },
    'runs.create': async ({ start, queue, startable, ...newRun }) => ({
      runId: await createAndLaunch(core, newRun, { start, queue, startable }),
    }),
    'runs.start': ({ runId, after }) => core.queue.startNow(runId, after),
    'runs.command': ({ runId, command, ...args }) => runs.command(runId, command, args),
    'runs.series': ({ runId, ...range }) => core.history.reader.call('series', { runId: runs.require(runId), range }),
    'runs.times': ({ runId }) => core.history.reader.call('times', runs.require(runId)),
    'runs.timeline': ({ runId, iteration }) =>
      core.history.reader.call('timeline', { runId: runs.require(runId), iteration }),
    'runs.settings': ({ runIds }) => {
      const listed = runs.list().map(({ id }) => id);
      const asked = runIds && new Set(runIds);
      return settingsOfRuns(core.home, asked ? listed.filter((id) => asked.has(id)) : listed);
    },
    'runs.log': ({ runId }) => readLog(database, runs.require(runId)),
    'runs.events': ({ runId, after }) =>
      eventsAfter(database, runs.require(runId), after).map(({ body, ...event }) => ({
        ...event,
        body: JSON.parse(body),
      })),
    'runs.adopt': async ({ runId }) => {
      await core.supervisor.add(runId);
      return runs.get(runId);
    },
    'runs.storage': ({ runId }) => core.storage.of(runId),
    'runs.annotate': (input) => core.annotations.annotate(input),
    'alerts.list': ({ runId }) => core.annotations.alerts(runId),
    'alerts.answer': (input) => core.annotations.answer(input),
    'echoTrap.state': ({ runId }) => core.supervisor.trap(runs.require(runId)),
    'echoTrap.act': (input) => core.alertActions.act(input),
    'queue.list': () => {
      const { queue } = core;
      return { runs: queue.list(), problem: queue.problem(), working: queue.working, reasons: queue.reasons() };
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
    'studies.papers': ({ model = 'starter' }) => ({ models: [...paperModels], studies: paperStudies(model) }),
    'studies.start': async ({ studyId }) => {
      await studies.start(studyId);
      return studies.summary(studyId);
    },
    'studies.submit': ({ studyId, target, script }) => submitStudy(core, studyId, target, script),
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
    'rollouts.list': ({ runId }) => listRollouts(database, runs.require(runId)),
    'rollouts.rewards': ({ runId }) => core.history.reader.call('rewards', runs.require(runId)),
    'rollouts.episodes': ({ runId, iteration, split }) => readFromRollout(core, runId, iteration, split, readEpisodes),
    'rollouts.thoughts': async ({ runId, iteration }) => ({
      iteration,
      ...(await readFromRollout(core, runId, iteration, trainSplit, readThoughts)),
    }),
    'rollouts.replay': async ({ runId, episodeId }) =>
      toReplay(
        await readFromEpisode(core, runId, null, episodeId, (folder, paths) => readEpisode(folder, paths, episodeId)),
      ),
    'rollouts.level': async ({ runId, group, files }) => {
      runs.require(runId);
      return Promise.all(
        files.map(async ({ iteration, split, evaluation }) => {
          const paths = evaluation
            ? await evaluations.paths(runId, evaluation).catch(() => undefined)
            : findRollout(database, runId, iteration, split);
          const episodes = paths ? await readEpisodes(runs.folder(runId), paths).catch(() => []) : [];
          return episodes.find((episode) => episode.group === group && episode.member === 0 && !episode.void) ?? null;
        }),
      );
    },
    'rollouts.boards': async ({ runId, iteration, split, evaluation, group }) => ({
      iteration,
      split,
      ...(await readFromFile(core, runId, { iteration, split, evaluation }, (folder, paths) =>
        core.episodes.call('boards', { folder, paths, group }),
      )),
    }),
    'rollouts.tokens': ({ runId, evaluation, episodeId }) =>
      readFromEpisode(core, runId, evaluation, episodeId, (folder, paths) =>
        core.episodes.call('tokens', { folder, paths, episodeId }),
      ),
    'rollouts.episode': ({ runId, evaluation, episodeId }) =>
      readFromEpisode(core, runId, evaluation, episodeId, (folder, paths) => readRawEpisode(folder, paths, episodeId)),
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
    'system.revision': () => ({ revision }),
    'cluster.targets': () => clusterTargets(core),
    'cluster.check': async ({ target }) => ({ answer: await core.cluster.check(target) }),
    'cluster.script': ({ runId, target }) => ({ script: core.cluster.script(runs.require(runId), target) }),
    'cluster.saveTarget': ({ name, was, settings }) => {
      core.cluster.targets.save(name, settings, was);
      core.notices.emit('targets', {});
    },
    'cluster.removeTarget': ({ name }) => {
      core.cluster.targets.remove(name);
      core.notices.emit('targets', {});
    },
    'cluster.plan': ({ target, jobs }) => planJobs(core, target, jobs),
    'cluster.submit': ({ runId, target, script, scriptOf = runId }) =>
      submitRun(core, runId, target, script === undefined ? undefined : { text: script, run: scriptOf }),
    'cluster.jobs': () =>
      core.cluster.jobs.list(
        runs
          .list()
          .map(({ id }) => id)
          .reverse(),
      ),
    'cluster.job': ({ runId }) => core.cluster.jobs.details(runs.require(runId)),
    'cluster.act': ({ runId, action }) => actOnJob(core, runId, action),
    'cluster.nice': ({ runId, nice }) => setNice(core, runId, nice),
    'devices.list': async () => ({ devices: await core.queue.pool.list(), share: core.queue.pool.share }),
    'devices.restore': ({ device }) => core.queue.restoreDevice(device),
    'devices.share': ({ share }) => core.queue.setShare(share),
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
    'models.inspect': ({ model, folder }) => inspectModel(core, model, folder),
    'models.list': async ({ checkpoints = true }) => ({
      models: await models.list(),
      downloads: await models.downloads.list(),
      checkpoints: checkpoints ? await models.checkpoints() : [],
    }),
    'models.add': ({ folder }) => models.add(folder),
    'models.forget': ({ folder }) => models.forget(folder),
    'models.delete': ({ name }) => models.delete(name),
    'models.look': ({ repository }) => models.downloads.look(repository),
    'models.download': ({ repository }) => models.downloads.start(repository),
    'models.discard': ({ repository }) => models.downloads.discard(repository),
    'hub.settings': () => models.hub.settings,
    'hub.set': (change) => models.hub.set(change),
    'play.choices': ({ runId }) => games.choices(runId),
    'play.open': (request) => games.open(session, request),
    'play.get': ({ gameId }) => games.find(gameId).state,
    'play.agent': ({ gameId, sampling }) => games.find(gameId).startAgent(sampling),
    'play.stop': ({ gameId }) => games.find(gameId).stopAgent(),
    'play.move': ({ gameId, action, sampling }) => games.find(gameId).move(action, sampling),
    'play.restart': ({ gameId }) => games.find(gameId).restart(),
    'play.level': ({ gameId, level }) => games.find(gameId).setLevel(level),
    'play.checkpoint': ({ gameId, checkpoint }) => games.setCheckpoint(gameId, checkpoint),
    'play.close': ({ gameId }) => games.end(gameId),
    'environments.list': () => ownEnvironments.list(),
    'environments.add': (request) => ownEnvironments.add(request),
    'environments.update': (request) => ownEnvironments.update(request),
    'environments.remove': ({ id }) => ownEnvironments.remove(id),
    'environments.check': ({ id }) => ownEnvironments.check(id),
    'environments.play': ({ id, seed }) => ownEnvironments.play(session, id, seed),
    'environments.act': ({ gameId, action }) => ownEnvironments.games.act(session, gameId, action),
    'environments.leave': ({ gameId }) => ownEnvironments.games.leave(session, gameId),
    'environments.watch': ({ id, policy }) => ownEnvironments.watch(id, policy),
    'environments.watched': async ({ id }) => ({ watched: await ownEnvironments.watched(id) }),
    'environments.replay': ({ id, episodeId }) => ownEnvironments.replay(id, episodeId),
    'sample.get': () => core.sample.get(),
  };
}

function presetCards({ times, home }: Core): PresetCard[] {
  const estimate = times.estimator();
  return [...presets, ...ownPresets(home)]
    .filter((preset) => !preset.hidden)
    .map(({ config, hidden: _, ...card }) => ({
      ...card,
      environments: config.environments.map(({ type, config }) => ({ type, config })),
      device: config.device,
      iterations: config.iterations,
      first: {
        iterations: config.iterations,
        seed: config.seed,
        'optimizer.learning_rate': config.optimizer.learning_rate,
        'rollout.groups': config.rollout.groups,
      },
      time: estimate(config),
    }));
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
  const info = { version, host: hostname(), dataFolder: home, cores: availableCores(), readOnly };
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
