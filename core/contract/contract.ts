import { z } from 'zod';
import { configurationProcedures, presetCard, settings, trainMoreProcedures } from './configuration.ts';
import { echoTrap, trapReaction } from './echo-trap.ts';
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
import { deletedRuns, libraryNotices, libraryProcedures, trashedRun } from './library.ts';
import { machineNotices, machineProcedures } from './machine.ts';
import { modelNotices, modelProcedures } from './models.ts';
import { humanSuccess, playNotices, playProcedures } from './play.ts';
import {
  type ApiError,
  alert,
  apiError,
  iterationTimes,
  journalEvent,
  keptText,
  logLine,
  memoryPlan,
  metrics,
  modelState,
  noteText,
  runCommand,
  runId,
  runMarks,
  runName,
  runSource,
  runStorage,
  runSummary,
  series,
  studyId,
  studyName,
  tagText,
} from './runs.ts';
import { sampleProcedures } from './sample.ts';
import { study, studyPoints, studySeeds, studySummary, trashedStudy } from './studies.ts';
import { rebuildReport, systemInfo } from './system.ts';
import { task } from './tasks.ts';

export * from './configuration.ts';
export * from './echo-trap.ts';
export * from './episodes.ts';
export * from './evaluations.ts';
export * from './exports.ts';
export * from './library.ts';
export * from './machine.ts';
export * from './models.ts';
export * from './play.ts';
export * from './runs.ts';
export * from './sample.ts';
export * from './studies.ts';
export * from './system.ts';
export * from './tasks.ts';

/**
 * The one definition of the API between core and its clients (renderer, command line), carried by birpc over IPC or a WebSocket.
 * A procedure takes one object and gives one; both are checked at the border. Errors are {@link ApiError}.
 */

const empty = z.object({});
/** A kind of notice, of one run or of all; one whose name core doesn't know brings nothing. */
const topic = z.object({ name: z.string().max(64), runId: runId.optional() });
/** Marks what writes to the data folder: refused where core only shows it. */
const changes = true;

/** Every procedure: its input and its output. */
export const procedures = {
  ...libraryProcedures,
  /** What this client hears of from now on, besides what it did; at first nothing. */
  'notices.subscribe': {
    input: z.object({ add: z.array(topic).max(256), remove: z.array(topic).max(256) }),
    output: empty,
  },
  /** A client's answer to `beat`: everything until then has arrived. */
  'notices.heard': { input: z.object({ beat: z.number().int() }), output: empty },
  /** Long work that is under way, oldest first. */
  'tasks.list': { input: empty, output: z.array(task) },
  /** Gives up what can be; answers when it has ended. Throws `task_unknown` or `task_not_cancellable`. */
  'tasks.cancel': { input: z.object({ taskId: z.string().max(64) }), output: empty },
  /** Answers once every run that was there when core started is taken in; lists may be incomplete before. */
  'history.ready': { input: empty, output: empty },
  'system.info': { input: empty, output: systemInfo },
  /** Throws `trainer_missing`: for asking before anything is made. */
  'trainer.require': { input: empty, output: empty },
  /** Makes the index over all runs again from their folders; everything goes on meanwhile. */
  'history.rebuild': { changes, input: empty, output: rebuildReport },
  'presets.list': { input: empty, output: z.array(presetCard) },
  /** run.json as the preset has it, before a run is made. */
  'presets.config': {
    input: z.object({ preset: z.string().max(64) }),
    output: z.object({ config: z.unknown() }),
  },
  /** Looks at a published model's folder: the named one, or wherever it is found. */
  'models.inspect': {
    input: z.object({ model: z.string().max(64), folder: z.string().max(4096).optional() }),
    output: modelState,
  },
  'runs.list': { input: empty, output: z.array(runSummary) },
  'runs.get': {
    input: z.object({ runId }),
    output: z.object({
      summary: runSummary,
      config: z.unknown(),
      folder: z.string(),
      /** Of the last trainer that had one: a GPU's. */
      memoryPlan: memoryPlan.nullable(),
      /** Of people who played it, by environment: the newest each. */
      humanSuccess: z.array(humanSuccess),
    }),
  },
  ...configurationProcedures,
  ...trainMoreProcedures,
  /** Makes the run directory; with `start` also starts the trainer, with `queue` adds it to the queue instead. */
  'runs.create': {
    changes,
    input: z
      .object({ set: settings.optional(), start: z.boolean(), queue: z.boolean().optional() })
      .and(runSource),
    output: z.object({ runId }),
  },
  /** Starts a created run's trainer, or resumes a stopped, interrupted or failed one from its last checkpoint. */
  'runs.start': { changes, input: z.object({ runId }), output: empty },
  /** Appends to control.jsonl; answers when the trainer has acknowledged it or the run has ended. */
  'runs.command': {
    changes,
    input: z.object({ runId }).and(runCommand),
    output: z.object({ accepted: z.boolean(), message: z.string() }),
  },
  /**
   * Series of the named metrics, or of all; only iterations above `after`, up to `upTo`. `resolution`: how many entries are enough; of longer series each entry is a
   * stretch of iterations then.
   */
  'runs.series': {
    input: z.object({
      runId,
      names: z.array(z.string().max(128)).max(256).optional(),
      after: z.number().int().optional(),
      upTo: z.number().int().optional(),
      resolution: z.number().int().min(16).max(16_384).optional(),
    }),
    output: z.array(series),
  },
  'runs.times': { input: z.object({ runId }), output: iterationTimes },
  'runs.log': { input: z.object({ runId }), output: z.array(logLine) },
  /** The journal after a `seq`, but for its `phase` events: at most a thousand. */
  'runs.events': {
    input: z.object({ runId, after: z.number().int() }),
    output: z.array(journalEvent),
  },
  /** Takes in a run folder that has just come under runs/, and doesn't wait until core finds it. */
  'runs.adopt': { changes, input: z.object({ runId }), output: runSummary },
  'runs.storage': { input: z.object({ runId }), output: runStorage },
  /**
   * Changes what is named, leaves the rest. `noteWas`: the note that the new one was written over. Throws `note_changed` where that one isn't there any more,
   * `run_active` where a run that is trained or paused is to be archived.
   */
  'runs.annotate': {
    changes,
    input: z.object({
      runId,
      addTags: z.array(tagText).max(32).optional(),
      removeTags: z.array(keptText).max(32).optional(),
      note: noteText.optional(),
      noteWas: keptText.optional(),
      starred: z.boolean().optional(),
      archived: z.boolean().optional(),
      name: runName.optional(),
    }),
    output: runMarks,
  },
  'alerts.list': { input: z.object({ runId }), output: z.array(alert) },
  /** Answers an alert; `until` (ms since the epoch) belongs to `snoozed`. */
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
  /** What the Echo Trap's monitor says of a run; null where there is nothing to judge, as in a warm start or before the first iteration. */
  'echoTrap.state': { input: z.object({ runId }), output: echoTrap.nullable() },
  /**
   * Takes an advice of `echoTrap.state`, and answers when that is done: a roll-back once the fork trains. `alertId`: what it answers. Throws `advice_unknown`,
   * `advice_idle` where it would change nothing, what `runs.command` and `runs.start` throw, `checkpoint_missing`, `disk_space_low`, or `run_active` where the run doesn't stop.
   */
  'echoTrap.act': {
    changes,
    input: z.object({ runId, adviceId: z.string().max(64), alertId: z.string().max(64).optional() }),
    output: trapReaction,
  },
  /** Runs that wait for their device, next first; `problem`: what keeps the queue from going on; `working`: whether it goes on at all. */
  'queue.list': {
    input: empty,
    output: z.object({ runs: z.array(runId), problem: apiError.nullable(), working: z.boolean() }),
  },
  /** Puts a startable run at the queue's end; one that is in it stays where it is. */
  'queue.add': { changes, input: z.object({ runId }), output: z.object({ position: z.number().int() }) },
  /** From now on this core starts what waits, as the app and `starpo serve` ask it to. */
  'queue.work': { changes, input: empty, output: empty },
  'queue.remove': { changes, input: z.object({ runId }), output: empty },
  /** To a position from 1 on; beyond the last means the last. */
  'queue.move': {
    changes,
    input: z.object({ runId, position: z.number().int().min(1) }),
    output: z.object({ position: z.number().int() }),
  },
  /** Oldest first. */
  'studies.list': { input: empty, output: z.array(studySummary) },
  /** Its runs with their results as they stand now. */
  'studies.get': { input: z.object({ studyId }), output: study },
  /**
   * Makes a study: `set` changes what all of its runs are made from, each point that once more; a label says whose success is judged, else that of the first
   * environment that is validated. Every point is checked first. With `start` as `studies.start`.
   */
  'studies.create': {
    changes,
    input: z.object({
      name: studyName,
      base: runSource,
      set: settings.optional(),
      points: studyPoints,
      seeds: studySeeds,
      environment: z.string().max(32).optional(),
      start: z.boolean().optional(),
    }),
    output: studySummary,
  },
  /** Makes the runs that are missing, and queues all that aren't complete, failed and stopped ones too; answers when they are queued. */
  'studies.start': { changes, input: z.object({ studyId }), output: studySummary },
  /** Takes out of the queue what waits and stops what is trained; answers when that was asked for. `studies.start` goes on from there. */
  'studies.cancel': { changes, input: z.object({ studyId }), output: studySummary },
  /**
   * Moves a study to the trash. With `runs`, those go there too, and where one has to stay the study does; otherwise they stay as runs of no study. Throws
   * `study_active` while one is queued or trained.
   */
  'studies.delete': { changes, input: z.object({ studyId, runs: z.boolean() }), output: deletedRuns },
  /** Those in the trash, newest first. */
  'studies.trashed': { input: empty, output: z.array(trashedStudy) },
  /** Takes it back, with runs that are in the trash. Throws `study_unknown`, `trash_unknown` or `run_exists`. */
  'studies.restore': {
    changes,
    input: z.object({ studyId, ids: z.array(trashedRun.shape.id).max(2000) }),
    output: studySummary,
  },
  'rollouts.list': { input: z.object({ runId }), output: z.array(rolloutFile) },
  'rollouts.episodes': {
    input: z.object({ runId, iteration: z.number().int(), split: z.string().max(64) }),
    output: z.array(episodeSummary),
  },
  /** `split`: `train` where it isn't given. Throws `rollout_unknown` or `rollout_gone`. */
  'rollouts.thoughts': {
    input: z.object({ runId, iteration: z.number().int(), split: z.string().max(64).optional() }),
    output: thoughts,
  },
  'rollouts.replay': { input: z.object({ runId, episodeId: z.string().max(128) }), output: replay },
  /** One level (group) in several files: the same level at different checkpoints. Null where a file or the level in it is missing. */
  'rollouts.level': {
    input: z.object({
      runId,
      group: z.number().int().min(0),
      files: z.array(episodeFile).max(2000),
    }),
    output: z.array(episodeSummary.nullable()),
  },
  /** All boards of a file, or one group's. Throws what `rollouts.episodes` does. */
  'rollouts.boards': {
    input: z.object({ runId, ...episodeFile.shape, group: z.number().int().min(0).optional() }),
    output: rolloutBoards,
  },
  /** Throws what `rollouts.replay` does. */
  'rollouts.tokens': {
    input: z.object({ runId, evaluation: evaluationName.nullable(), episodeId: z.string().max(128) }),
    output: episodeTokens,
  },
  /** One episode as its file has it, to be saved. */
  'rollouts.episode': {
    input: z.object({ runId, evaluation: evaluationName.nullable(), episodeId: z.string().max(128) }),
    output: z.record(z.string(), z.unknown()),
  },
  'evaluations.choices': { input: z.object({ runId }), output: evaluationChoices },
  /**
   * Begins to play a checkpoint on fixed levels, whether or not the run is training; answers once the policy is loaded. `on`: a label of the run's, an
   * environment type, or a preset; without it the run's first validated environment. `set`: keys of that environment (`config.size`, or just `size`).
   */
  'evaluations.start': {
    changes,
    input: z.object({
      runId,
      checkpoint: z.number().int().min(0).max(1_000_000),
      on: z.string().max(64).optional(),
      set: settings.optional(),
      levels: z.number().int().optional(),
      temperature: z.number().optional(),
      seed: z.number().int().optional(),
      name: evaluationName.optional(),
    }),
    output: evaluation,
  },
  /** Newest first; those that failed since core started are among them. */
  'evaluations.list': { input: z.object({ runId }), output: z.array(evaluation) },
  'evaluations.get': { input: z.object({ runId, name: evaluationName }), output: evaluation },
  /** Gives up one that is under way; nothing of it stays. Answers when it has ended. */
  'evaluations.cancel': { input: z.object({ runId, name: evaluationName }), output: empty },
  'evaluations.episodes': {
    input: z.object({ runId, name: evaluationName }),
    output: z.array(episodeSummary),
  },
  'evaluations.replay': {
    input: z.object({ runId, name: evaluationName, episodeId: z.string().max(128) }),
    output: replay,
  },
  ...exportProcedures,
  ...machineProcedures,
  ...modelProcedures,
  ...playProcedures,
  ...sampleProcedures,
} as const;

export type ProcedureName = keyof typeof procedures;
export type Input<P extends ProcedureName> = z.infer<(typeof procedures)[P]['input']>;
export type Output<P extends ProcedureName> = z.infer<(typeof procedures)[P]['output']>;
/** What whoever serves the API does for each procedure; input has been checked. */
export type Handlers = { [P in ProcedureName]: (input: Input<P>) => Output<P> | Promise<Output<P>> };

/**
 * What core tells the clients that subscribed to it. Every notice only says what has changed, so a client that missed some asks again; `beat` and `missed`
 * come to every client.
 */
export const notices = {
  ...libraryNotices,
  /** To be answered by `notices.heard`: so core knows that a client is there, and how much is still under way to it. */
  beat: z.object({ beat: z.number().int() }),
  /** So much was under way to this client that notices were left out: what it shows has to be asked for again. */
  missed: empty,
  /** Long work has begun, come further (a few times a second) or ended. */
  task,
  /** A run's summary changed: told right after the notices of the events that changed it; where only the phase did, a few times a second. */
  run: runSummary,
  /** A run's directory is gone, and the run with it. */
  removed: z.object({ runId }),
  /** New or replaced points: append those above, replace those equal. Where `truncateAfter` is given (a trainer has started), first drop points and rollouts of later iterations. */
  metrics: z.object({
    runId,
    truncateAfter: z.number().int().nullable(),
    /** `time`: when the iteration ended, ms since 1970; not of evaluations. */
    points: z.array(z.object({ iteration: z.number().int(), metrics, time: z.number().optional() })),
  }),
  log: z.object({ runId, line: logLine }),
  memoryPlan: z.object({ runId, plan: memoryPlan }),
  rollout: z.object({ runId, file: rolloutFile }),
  /** An evaluation that was asked for has begun, come further (a few times a second) or ended; a cancelled one is gone. */
  evaluation: z.object({ runId, evaluation }),
  /** Its episodes are deleted, since the run keeps those of the newest iterations alone. */
  rolloutRemoved: z.object({ runId, iteration: z.number().int(), split: z.string() }),
  /** What keeps the queue from going on has come or gone; its order is told with the runs. */
  queue: z.object({ problem: apiError.nullable() }),
  /** A study was made, or one of its runs has begun, come an iteration further or ended; null: it is gone. */
  study: z.object({ studyId, summary: studySummary.nullable() }),
  storage: z.object({ runId, storage: runStorage }),
  alerts: z.object({ runId, alerts: z.array(alert) }),
  /** The monitor has judged more iterations, or some again (a few times a second at most). */
  echoTrap: z.object({ runId, echoTrap: echoTrap.nullable() }),
  ...exportNotices,
  ...machineNotices,
  ...modelNotices,
  ...playNotices,
} as const;

export type NoticeName = keyof typeof notices;
export type Notice<N extends NoticeName> = z.infer<(typeof notices)[N]>;

/** A call over the wire: `call(name, input)` answers with one of these, never by throwing. */
export type CallResult<P extends ProcedureName> =
  | { ok: true; value: Output<P> }
  | { ok: false; error: ApiError };
