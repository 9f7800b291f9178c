import { z } from 'zod';
import { clusterNotices, clusterProcedures } from './cluster.ts';
import { targetName } from './cluster-job.ts';
import { configurationProcedures, launch, presetCard, settings, trainMoreProcedures } from './configuration.ts';
import { alertAction, echoTrap } from './echo-trap.ts';
import {
  episodeFile,
  episodeSummary,
  episodeTokens,
  replay,
  rolloutBoards,
  rolloutFile,
  thoughts,
} from './episodes.ts';
import { evaluation, evaluationChoices, evaluationName } from './evaluations.ts';
import { exportNotices, exportProcedures } from './exports.ts';
import { importProcedures } from './imports.ts';
import { deletedRuns, libraryNotices, libraryProcedures, trashedRun } from './library.ts';
import { machineNotices, machineProcedures } from './machine.ts';
import { modelNotices, modelProcedures } from './models.ts';
import { ownEnvironmentNotices, ownEnvironmentProcedures } from './own-environments.ts';
import { humanSuccess, playNotices, playProcedures } from './play.ts';
import { detailProcedures } from './run-details.ts';
import {
  type ApiError,
  alert,
  apiError,
  firstStepCheck,
  iterationTimes,
  journalEvent,
  keptText,
  logLine,
  memoryPlan,
  metrics,
  modelState,
  newRunMarks,
  newStudyName,
  noteText,
  ownCommand,
  runCommand,
  runId,
  runMarks,
  runName,
  runSource,
  runStorage,
  runSummary,
  series,
  studyId,
  tagText,
} from './runs.ts';
import { sampleProcedures } from './sample.ts';
import { paperStudy, study, studyPoints, studySeeds, studySummary, trashedStudy } from './studies.ts';
import { rebuildReport, systemInfo, unreadableFolder } from './system.ts';
import { task } from './tasks.ts';

export * from './cluster-job.ts';
export * from './configuration.ts';
export * from './echo-trap.ts';
export * from './episodes.ts';
export * from './evaluations.ts';
export * from './exports.ts';
export * from './imports.ts';
export * from './library.ts';
export * from './machine.ts';
export * from './models.ts';
export * from './own-environments.ts';
export * from './play.ts';
export * from './run-details.ts';
export * from './runs.ts';
export * from './sample.ts';
export * from './studies.ts';
export * from './system.ts';
export * from './tasks.ts';

/**
 * Defines the API between the server and its clients (renderer, command line), carried by birpc over IPC or a WebSocket.
 * A procedure takes one object and returns one; inputs are validated. Errors are {@link ApiError}.
 */

const empty = z.object({});
/** A notice name, for one run or all. Unknown names are ignored. */
const topic = z.object({ name: z.string().max(64), runId: runId.optional() });
/** Marks procedures that write to the data folder; they are rejected when it is read-only. */
const changes = true;

/** Input and output of every procedure. */
export const procedures = {
  ...libraryProcedures,
  /** Changes this client's subscriptions; initially there are none. */
  'notices.subscribe': {
    input: z.object({ add: z.array(topic).max(256), remove: z.array(topic).max(256) }),
    output: empty,
  },
  /** Confirms a `beat`: all earlier messages have arrived. */
  'notices.acknowledge': { input: z.object({ beat: z.int() }), output: empty },
  /** Lists running tasks, oldest first. */
  'tasks.list': { input: empty, output: z.array(task) },
  /** Cancels a task and returns when it has ended. Throws `task_unknown` or `task_not_cancelable`. */
  'tasks.cancel': { input: z.object({ taskId: z.string().max(64) }), output: empty },
  /** Returns once the runs present at the start are indexed; lists may be incomplete before. */
  'history.ready': { input: empty, output: empty },
  'system.info': { input: empty, output: systemInfo },
  /** Returns the revision of the server's API. A page of another build can't show its answers. */
  'system.revision': { input: empty, output: z.object({ revision: z.string() }) },
  /** Throws `trainer_missing`. */
  'trainer.require': { input: empty, output: empty },
  /** Lets environments run a command, after the user has read it. Until then, starting a run with it throws `command_not_confirmed`. */
  'commands.confirm': { changes, input: ownCommand, output: empty },
  /** Rebuilds the run history from the run folders, without interrupting other work. */
  'history.rebuild': { changes, input: empty, output: rebuildReport },
  'presets.list': { input: empty, output: z.array(presetCard) },
  /** Returns the run.json of a preset. */
  'presets.config': {
    input: z.object({ preset: z.string().max(64) }),
    output: z.object({ config: z.unknown() }),
  },
  /** Inspects the folder of a published model; by default, the folder is searched for. */
  'models.inspect': {
    input: z.object({ model: z.string().max(64), folder: z.string().max(4096).optional() }),
    output: modelState,
  },
  'runs.list': { input: empty, output: z.array(runSummary) },
  /** Lists the folders under runs/ that can't be indexed, with the reason. */
  'runs.unreadable': { input: empty, output: z.array(unreadableFolder) },
  'runs.get': {
    input: z.object({ runId }),
    output: z.object({
      summary: runSummary,
      config: z.unknown(),
      folder: z.string(),
      /** Memory plan of the last trainer on a GPU. */
      memoryPlan: memoryPlan.nullable(),
      /** Null before the first update, and for imported runs. */
      firstStepCheck: firstStepCheck.nullable(),
      /** Newest result of the user per environment. */
      humanSuccess: z.array(humanSuccess),
    }),
  },
  ...configurationProcedures,
  ...trainMoreProcedures,
  /**
   * Creates a run, and starts it (`start`) or queues it (`queue`) if requested. `id`: its id, as reserved by `cluster.plan`. Throws `command_not_confirmed` before the run is created, or
   * `run_exists`.
   */
  'runs.create': {
    changes,
    input: z.object({ id: runId.optional(), set: settings.optional(), ...newRunMarks.shape, ...launch }).and(runSource),
    output: z.object({ runId }),
  },
  /**
   * Starts a created run's trainer, or resumes a stopped, interrupted or failed one from its last checkpoint. `after`: does nothing if the run
   * has been started after the event with this `seq`, so that the call can be repeated.
   */
  'runs.start': { changes, input: z.object({ runId, after: z.int().optional() }), output: empty },
  /** Sends a command to the trainer and returns when it is acknowledged or the run has ended. */
  'runs.command': {
    changes,
    input: z.object({ runId }).and(runCommand),
    output: z.object({ accepted: z.boolean(), message: z.string() }),
  },
  /**
   * Returns the series of the given metrics, or of all, for iterations above `after` up to `upTo`. Series longer than `resolution` are
   * downsampled: each entry covers several iterations.
   */
  'runs.series': {
    input: z.object({
      runId,
      names: z.array(z.string().max(128)).max(256).optional(),
      after: z.int().optional(),
      upTo: z.int().optional(),
      resolution: z.int().min(16).max(16_384).optional(),
    }),
    output: z.array(series),
  },
  'runs.times': { input: z.object({ runId }), output: iterationTimes },
  'runs.log': { input: z.object({ runId }), output: z.array(logLine) },
  /** Returns up to 1000 journal events after a `seq`, without `phase` events. */
  'runs.events': {
    input: z.object({ runId, after: z.int() }),
    output: z.array(journalEvent),
  },
  /** Indexes a new folder under runs/ immediately. */
  'runs.adopt': { changes, input: z.object({ runId }), output: runSummary },
  'runs.storage': { input: z.object({ runId }), output: runStorage },
  /**
   * Changes only the given fields. `noteWas` is the note that the edit started from: throws `note_changed` if it has changed since.
   * Throws `run_active` when archiving a running or paused run.
   */
  'runs.annotate': {
    changes,
    input: z.object({
      runId,
      addTags: z.array(tagText).max(256).optional(),
      removeTags: z.array(keptText).max(256).optional(),
      note: noteText.optional(),
      noteWas: keptText.optional(),
      starred: z.boolean().optional(),
      archived: z.boolean().optional(),
      name: runName.optional(),
    }),
    output: runMarks,
  },
  'alerts.list': { input: z.object({ runId }), output: z.array(alert) },
  /** Sets the state of an alert; `until` (ms since the epoch) is for `snoozed`. */
  'alerts.answer': {
    changes,
    input: z.object({
      runId,
      alertId: z.string().max(64),
      state: z.enum(['acknowledged', 'snoozed', 'cleared']),
      until: z.number().optional(),
    }),
    output: z.array(alert),
  },
  /** Returns the Echo Trap monitor's state for a run; null without data, as in a warm start or before the first iteration. */
  'echoTrap.state': { input: z.object({ runId }), output: echoTrap.nullable() },
  /**
   * Applies a piece of advice from `echoTrap.state` and returns when done; a roll-back is done when the fork trains. `alertId` is the alert it answers. `name`: display
   * name of the fork. Throws `advice_unknown`,
   * `advice_idle` if it has no effect, as `runs.command` and `runs.start` do, `checkpoint_missing`, `disk_space_low`, or `run_active` if the run does not stop.
   */
  'echoTrap.act': {
    changes,
    input: z.object({
      runId,
      adviceId: z.string().max(64),
      alertId: z.string().max(64).optional(),
      name: runName.optional(),
    }),
    output: alertAction,
  },
  /**
   * Lists queued runs, next first. `problem` is what blocks the queue; `working` is whether this host starts queued runs. `reasons` states why runs
   * wait, by run.
   */
  'queue.list': {
    input: empty,
    output: z.object({
      runs: z.array(runId),
      problem: apiError.nullable(),
      working: z.boolean(),
      reasons: z.record(runId, z.string()),
    }),
  },
  /** Adds a run to the end of the queue; a queued run keeps its position. */
  'queue.add': { changes, input: z.object({ runId }), output: z.object({ position: z.int() }) },
  /** Makes this host start queued runs, as the app and `starpo serve` do. */
  'queue.work': { changes, input: empty, output: empty },
  'queue.remove': { changes, input: z.object({ runId }), output: empty },
  /** Moves a run to a position, from 1; larger values mean the last. */
  'queue.move': {
    changes,
    input: z.object({ runId, position: z.int().min(1) }),
    output: z.object({ position: z.int() }),
  },
  /** Oldest first. */
  'studies.list': { input: empty, output: z.array(studySummary) },
  /** Returns a sweep with its runs and current results. */
  'studies.get': { input: z.object({ studyId }), output: study },
  /**
   * Creates a sweep. `set` applies to all settings (`points`), then each setting's own `set`. `environment` is the label whose success is compared; by default,
   * the first environment that is evaluated. All settings are validated first. `start` also calls `studies.start`.
   */
  'studies.create': {
    changes,
    input: z.object({
      name: newStudyName,
      base: runSource,
      set: settings.optional(),
      points: studyPoints,
      seeds: studySeeds,
      environment: z.string().max(32).optional(),
      start: z.boolean().optional(),
    }),
    output: studySummary,
  },
  /** Lists the studies of the RAGEN paper for a model (default: the starter), and the models with presets. Throws `preset_unknown`. */
  'studies.papers': {
    input: z.object({ model: z.string().max(64).optional() }),
    output: z.object({ models: z.array(z.string()), studies: z.array(paperStudy) }),
  },
  /** Creates missing runs and queues every run that has not completed, including failed and stopped ones. */
  'studies.start': { changes, input: z.object({ studyId }), output: studySummary },
  /** Creates missing runs and submits every run that has not completed as a job array. Has the `script` and the errors of `cluster.submit`. */
  'studies.submit': {
    changes,
    input: z.object({ studyId, target: targetName, script: z.string().optional() }),
    output: z.object({ job: z.string(), count: z.int() }),
  },
  /** Removes the sweep's runs from the queue and requests active ones to stop. `studies.start` resumes them. */
  'studies.cancel': { changes, input: z.object({ studyId }), output: studySummary },
  /**
   * Moves a sweep to the trash. With `runs`, also moves the sweep's runs; keeps the sweep if a run can't be moved. Throws
   * `study_active` while a run is queued or running.
   */
  'studies.delete': { changes, input: z.object({ studyId, runs: z.boolean() }), output: deletedRuns },
  /** Lists sweeps in the trash, newest first. */
  'studies.trashed': { input: empty, output: z.array(trashedStudy) },
  /** Restores a sweep, and the given runs from the trash. Throws `study_unknown`, `trash_unknown` or `run_exists`. */
  'studies.restore': {
    changes,
    input: z.object({ studyId, ids: z.array(trashedRun.shape.id).max(2000) }),
    output: studySummary,
  },
  'rollouts.list': { input: z.object({ runId }), output: z.array(rolloutFile) },
  'rollouts.episodes': {
    input: z.object({ runId, iteration: z.int(), split: z.string().max(64) }),
    output: z.array(episodeSummary),
  },
  /** `split` defaults to `train`. Throws `rollout_unknown` or `rollout_gone`. */
  'rollouts.thoughts': { input: z.object({ runId, iteration: z.int() }), output: thoughts },
  'rollouts.replay': { input: z.object({ runId, episodeId: z.string().max(128) }), output: replay },
  /** Returns the first episode of a level (group) from several files, for example at different checkpoints; null if it is missing or void. */
  'rollouts.level': {
    input: z.object({
      runId,
      group: z.int().min(0),
      files: z.array(episodeFile).max(2000),
    }),
    output: z.array(episodeSummary.nullable()),
  },
  /** Returns all boards of a file, or of one group. Throws as `rollouts.episodes` does. */
  'rollouts.boards': {
    input: z.object({ runId, ...episodeFile.shape, group: z.int().min(0).optional() }),
    output: rolloutBoards,
  },
  /** Throws as `rollouts.replay` does. */
  'rollouts.tokens': {
    input: z.object({ runId, evaluation: evaluationName.nullable(), episodeId: z.string().max(128) }),
    output: episodeTokens,
  },
  /** Returns an episode as stored, for saving. */
  'rollouts.episode': {
    input: z.object({ runId, evaluation: evaluationName.nullable(), episodeId: z.string().max(128) }),
    output: z.record(z.string(), z.unknown()),
  },
  'evaluations.choices': { input: z.object({ runId }), output: evaluationChoices },
  /**
   * Starts to evaluate a checkpoint on fixed levels, even while the run trains; returns once the policy is loaded. `on` is a label of the run, an
   * environment type or a preset; default: the run's first environment that is evaluated. `set` changes keys of that environment (`config.size` or `size`).
   */
  'evaluations.start': {
    changes,
    input: z.object({
      runId,
      checkpoint: z.int().min(0).max(1_000_000),
      on: z.string().max(64).optional(),
      set: settings.optional(),
      levels: z.int().optional(),
      temperature: z.number().optional(),
      topP: z.number().optional(),
      topK: z.int().optional(),
      minP: z.number().optional(),
      seed: z.int().optional(),
      name: evaluationName.optional(),
    }),
    output: evaluation,
  },
  /** Lists evaluations, newest first, including those that failed since the host started. */
  'evaluations.list': { input: z.object({ runId }), output: z.array(evaluation) },
  'evaluations.get': { input: z.object({ runId, name: evaluationName }), output: evaluation },
  /** Cancels a running evaluation, deletes its files and returns when it has ended. */
  'evaluations.cancel': { input: z.object({ runId, name: evaluationName }), output: empty },
  'evaluations.episodes': {
    input: z.object({ runId, name: evaluationName }),
    output: z.array(episodeSummary),
  },
  'evaluations.replay': {
    input: z.object({ runId, name: evaluationName, episodeId: z.string().max(128) }),
    output: replay,
  },
  ...detailProcedures,
  ...exportProcedures,
  ...importProcedures,
  ...clusterProcedures,
  ...machineProcedures,
  ...modelProcedures,
  ...ownEnvironmentProcedures,
  ...playProcedures,
  ...sampleProcedures,
} as const;

export type ProcedureName = keyof typeof procedures;
export type Input<P extends ProcedureName> = z.infer<(typeof procedures)[P]['input']>;
export type Output<P extends ProcedureName> = z.infer<(typeof procedures)[P]['output']>;
/** The handler of each procedure; inputs are validated before. It returns nothing if the output is empty. */
export type Handlers = {
  [P in ProcedureName]: Output<P> extends Record<string, never>
    ? (input: Input<P>) => void | Promise<void>
    : (input: Input<P>) => Output<P> | Promise<Output<P>>;
};

/**
 * Notices from the server to subscribed clients. A notice only reports a change, so a client that missed some fetches the data again. Every client
 * receives `beat` and `missed`.
 */
export const notices = {
  ...libraryNotices,
  /** The client confirms it with `notices.acknowledge`, which measures how much is still in flight. */
  beat: z.object({ beat: z.int() }),
  /** Notices were dropped because too much was in flight; the client must fetch its data again. */
  missed: empty,
  /** A task started, progressed (a few times per second) or ended. */
  task,
  /** A run's summary changed; sent after the notices of the events behind it. Phase changes are sent a few times per second. */
  run: runSummary,
  /** More episodes were indexed for search and rewards. */
  indexed: empty,
  /** The result of `runs.unreadable` may have changed. */
  unreadable: empty,
  /** A run's folder was deleted. */
  removed: z.object({ runId }),
  /** New or replaced points. If `truncateAfter` is set (a trainer has started), first drop points and rollouts of later iterations. */
  metrics: z.object({
    runId,
    truncateAfter: z.int().nullable(),
    /** `time` is the end of the iteration in ms since the epoch; absent for evaluations. */
    points: z.array(z.object({ iteration: z.int(), metrics, time: z.number().optional() })),
  }),
  log: z.object({ runId, line: logLine }),
  memoryPlan: z.object({ runId, plan: memoryPlan }),
  firstStepCheck: z.object({ runId, check: firstStepCheck }),
  rollout: z.object({ runId, file: rolloutFile }),
  /** A requested evaluation started, progressed (a few times per second) or ended; a canceled evaluation is deleted. */
  evaluation: z.object({ runId, evaluation }),
  /** The episodes were deleted, since the run keeps only those of the newest iterations. */
  rolloutRemoved: z.object({ runId, iteration: z.int(), split: z.string() }),
  /** Published when the problem that blocks the queue or the reason why a run waits changes. Queue positions are published in `run` notices. */
  queue: z.object({ problem: apiError.nullable() }),
  /** A sweep was created, or one of its runs started, progressed or ended; null if the sweep was deleted. */
  study: z.object({ studyId, summary: studySummary.nullable() }),
  storage: z.object({ runId, storage: runStorage }),
  alerts: z.object({ runId, alerts: z.array(alert) }),
  /** The monitor's view of a run changed (at most a few times per second). */
  echoTrap: z.object({ runId, echoTrap: echoTrap.nullable() }),
  ...clusterNotices,
  ...exportNotices,
  ...machineNotices,
  ...modelNotices,
  ...ownEnvironmentNotices,
  ...playNotices,
} as const;

export type NoticeName = keyof typeof notices;
export type Notice<N extends NoticeName> = z.infer<(typeof notices)[N]>;

/** The result of a call over the wire, which never throws. */
export type CallResult<P extends ProcedureName> = { ok: true; value: Output<P> } | { ok: false; error: ApiError };
