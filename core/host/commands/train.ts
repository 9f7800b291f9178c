import { setTimeout as pause } from 'node:timers/promises';
import { pasteable } from '../../base/pasteable.ts';
import { type Client, connectionLost } from '../../contract/client.ts';
import type { FirstStepCheck, JournalEvent, RunSummary } from '../../contract/contract.ts';
import { asFailure, Failure, ignoring } from '../../contract/failure.ts';
import { checkLine, notOk, verdictSummary } from '../../contract/first-step-words.ts';
import { hasEnded, isLive } from '../../contract/run-facts.ts';
import { type EventType, isKnownType, meaningOf } from '../../run-directory/events.ts';
import { hasWebFolder, webFolder } from '../../server/address.ts';
import { advise, durationText, iterationLine, print, stoppedExitCode, successLine, warn } from '../output.ts';
import { ProgressLine } from '../progress-line.ts';
import { resolveRun } from '../run-reference.ts';
import { nextSignal } from '../signals.ts';
import type { Studio } from '../studio.ts';
import { pauseOrResume, stoppedText } from './control.ts';
import { extension, type NewRunOptions, newRunFrom } from './new.ts';
import { idleQueue } from './queue.ts';
import { acrossHosts, type CommandOptions, withClient, withStudio } from './with-client.ts';

/** Time (ms) between requests to start a run whose trainer has not written an event yet. */
const startInterval = 200;

type TrainOptions = NewRunOptions & { json: boolean; queue: boolean };

/**
 * Creates a run, starts its trainer and prints its events until it ends, through the host if another process is the host; after a roll-back, follows the fork.
 * Serves the app to a browser too. The first Ctrl+C stops the trainer; the second detaches from it. With `queue`, only queues the run.
 */
export async function train({ queue, ...options }: TrainOptions): Promise<void> {
  if (queue) return trainLater(options);
  const { home, json, ...run } = options;
  await following(home, json, (studio) => begin(studio, run, json));
}

/** Resumes a run from its last checkpoint, or starts a new run, and follows it like {@link train}. */
export async function resume(named: string, { home, json = false }: CommandOptions): Promise<void> {
  await following(home, json, (studio) => startExisting(studio, named, json));
}

/** Extends a completed run, and streams the progress like {@link train}. */
export async function extend(named: string, iterations: number, { home, json = false }: CommandOptions): Promise<void> {
  const launch = { start: false, startable: true };
  const create = extension(named, iterations, launch);
  await following(home, json, async (studio) => followNew(studio, await acrossHosts(studio, create), json));
}

async function following(
  home: string | undefined,
  json: boolean,
  begin: (studio: Studio) => Promise<Follower>,
): Promise<void> {
  await withStudio({ home, endpoint: { port: 0, webFolder } }, async (studio) => {
    let follower = await begin(studio);
    const before = follower.fork;
    let summary = await follower.untilEnd();
    for (let fork = forkOf(summary); fork !== null && fork !== before; fork = forkOf(summary)) {
      follower = await followFork(studio, fork, json);
      summary = await follower.untilEnd();
    }
    const { id, status, iteration, iterations } = summary;
    if (json) print(JSON.stringify({ type: 'ended', run: id, status, iteration }));
    if (status === 'stopped') {
      if (!json) advise(await acrossHosts(studio, (client) => stoppedText(client, summary)));
      process.exitCode = stoppedExitCode();
      return;
    }
    if (!json) print(`${status} after iteration ${iteration} of ${iterations}`);
    if (status !== 'completed') throw await acrossHosts(studio, (client) => notCompleted(client, summary));
  });
}

/** Returns the fork that replaced a run that was rolled back. */
const forkOf = ({ status, lastAction }: RunSummary): string | null =>
  status === 'stopped' && lastAction?.state === 'done' ? lastAction.fork : null;

/** Follows the fork of the previous run. */
async function followFork(studio: Studio, runId: string, json: boolean): Promise<Follower> {
  const { folder, summary } = await acrossHosts(studio, (client) => client.call('runs.get', { runId }));
  const { run, iteration } = summary.parent!;
  print(
    json
      ? JSON.stringify({ type: 'rolled_back', run: runId, folder, parent: run, iteration })
      : `rolled back to iteration ${iteration}\nrun ${runId}\n  in ${folder}`,
  );
  return new Follower(studio, summary, json);
}

/** Creates a run and queues it. */
async function trainLater({ home, json, ...run }: Omit<TrainOptions, 'queue'>): Promise<void> {
  const create = newRunFrom(run, { start: false, queue: true });
  const enqueue = async (client: Client) => {
    const runId = await create(client);
    const { summary, folder } = await client.call('runs.get', { runId });
    return { runId, folder, position: summary.queuePosition, working: (await client.call('queue.list', {})).working };
  };
  const { runId, folder, position, working } = await withClient(home, enqueue, { repeatable: true });
  if (json) return print(JSON.stringify({ type: 'queued', run: runId, folder, position }));
  print(`run ${runId}\n  in ${folder}\n  position ${position} in the queue`);
  if (!working) advise(idleQueue);
}

async function begin(studio: Studio, run: Omit<NewRunOptions, 'home'>, json: boolean): Promise<Follower> {
  const create = newRunFrom(run, { start: false, startable: true });
  return followNew(studio, await acrossHosts(studio, create), json);
}

/** Prints the id and folder of a new run. */
async function followNew(studio: Studio, runId: string, json: boolean): Promise<Follower> {
  const { folder, summary } = await acrossHosts(studio, (client) => client.call('runs.get', { runId }));
  print(json ? JSON.stringify({ type: 'created', run: runId, folder }) : `run ${runId}\n  in ${folder}`);
  await printAddressAndWarnings(studio, runId, json);
  return new Follower(studio, summary, json);
}

/** Starts an existing run, or continues a paused one. Throws as `runs.start` and `runs.command` do. */
async function startExisting(studio: Studio, named: string, json: boolean): Promise<Follower> {
  const { follower, folder, summary } = await acrossHosts(studio, async (client) => {
    await client.call('trainer.require', {});
    const runId = await resolveRun(client, named);
    // Otherwise an earlier start that is not indexed yet would count as the start by this command.
    await client.call('runs.adopt', { runId });
    const found = await client.call('runs.get', { runId });
    const follower = new Follower(studio, found.summary, json);
    await follower.skipPast(client);
    return { ...found, follower };
  });
  await acrossHosts(studio, (client) => follower.restart(client));
  const { id: runId, iteration, iterations } = summary;
  print(
    json
      ? JSON.stringify({ type: 'resumed', run: runId, folder, iteration })
      : `${summary.status === 'created' ? `starting run ${runId}` : `resuming run ${runId} after iteration ${iteration} of ${iterations}`}\n  in ${folder}`,
  );
  await printAddressAndWarnings(studio, runId, json);
  return follower;
}

/** Prints the address of the app, and storage warnings. */
async function printAddressAndWarnings(studio: Studio, runId: string, json: boolean): Promise<void> {
  if (!json && hasWebFolder())
    print(`  while this command runs, watch it at ${(await studio.endpoint()).address}/run/${runId}`);
  const { warnings } = await acrossHosts(studio, (client) => client.call('runs.storage', { runId }));
  for (const { message, hint } of warnings) warn(`${message} ${hint}`);
}

/** Prints a run's events, with a progress bar on a terminal; reconnects when the host exits. */
class Follower {
  private readonly studio: Studio;
  private readonly run: RunSummary;
  private readonly json: boolean;
  private readonly progress = new ProgressLine();
  private printed = -1;
  /** The last event before this command. */
  private before = -1;
  /** Whether this command has requested a start. The host may have started the run before it exited. */
  private requested = false;
  private stopping = false;
  /** Whether this command resumes a paused run and has not read the event yet. */
  private resuming: boolean;

  constructor(studio: Studio, run: RunSummary, json: boolean) {
    this.studio = studio;
    this.run = run;
    this.json = json;
    this.resuming = run.status === 'paused';
  }

  /** The fork from a roll-back before this command. */
  get fork(): string | null {
    return this.run.lastAction?.fork ?? null;
  }

  /** Skips the events that are in the journal already. */
  async skipPast(client: Client): Promise<void> {
    for (;;) {
      const events = await client.call('runs.events', { runId: this.run.id, after: this.printed });
      if (events.length === 0) return;
      this.before = events.at(-1)!.seq;
      this.printed = this.before;
    }
  }

  /** Starts the trainer if needed and returns the run's final summary. */
  async untilEnd(): Promise<RunSummary> {
    const signals = nextSignal();
    try {
      return await acrossHosts(this.studio, (client) => this.follow(client, signals.signal));
    } finally {
      this.progress.erase();
      signals.close();
    }
  }

  /** Throws `connection_lost` if the host exits before the run ends. */
  private follow(client: Client, signal: Promise<NodeJS.Signals>): Promise<RunSummary> {
    const { id: runId } = this.run;
    return new Promise((resolve, reject) => {
      let printing = Promise.resolve();
      const update = (run: RunSummary) => {
        if (run.id !== runId) return;
        printing = printing
          .then(() => this.printNew(client, run))
          .then(() => {
            if (!this.json) this.progress.show(run);
            // During a roll-back, wait for the fork.
            if (hasEnded(run) && run.lastAction?.state !== 'begun') resolve(run);
          })
          .catch(reject);
      };
      client.on('run', update, runId);
      client.on('missed', () => client.call('runs.get', { runId }).then(({ summary }) => update(summary), reject));
      let lost = false;
      client.onClose(() => {
        lost = true;
        reject(connectionLost());
      });
      const started = this.start(client);
      started
        .then(() => client.call('runs.get', { runId }))
        .then(({ summary }) => update(summary))
        .catch(reject);
      const stop = async () => {
        if (lost) return;
        this.progress.erase();
        if (!this.stopping) process.stderr.write('stopping the trainer; press Ctrl+C again to exit without waiting\n');
        this.stopping = true;
        await started;
        await client.call('runs.command', { runId, command: 'stop' }).catch(ignoring('run_not_active'));
      };
      signal.then(stop).catch(reject);
    });
  }

  /** Starts a new run unless its trainer is running. */
  private async start(client: Client): Promise<void> {
    const { id: runId } = this.run;
    const isCreated = async () => (await client.call('runs.get', { runId })).summary.status === 'created';
    while ((await isCreated()) && !(await this.requestStart(client, true)));
  }

  /** Starts a run that has ended, or continues a paused one. Throws `run_active` if it is running, unless an earlier call started it. */
  async restart(client: Client): Promise<void> {
    const { id: runId, status } = this.run;
    if (status !== 'paused') {
      while (!(await this.requestStart(client, this.requested && !isLive(status))));
      return;
    }
    const repeated = this.requested;
    this.requested = true;
    const { summary } = await client.call('runs.get', { runId });
    if (summary.status === 'paused') await pauseOrResume(client, runId, 'resume', repeated);
  }

  /** Returns whether the run has started. `mayRun`: if its trainer is running without an event, because another host started it, waits and returns false. */
  private async requestStart(client: Client, mayRun: boolean): Promise<boolean> {
    this.requested = true;
    try {
      await client.call('runs.start', { runId: this.run.id, after: this.before });
      return true;
    } catch (error) {
      if (!mayRun || asFailure(error).code !== 'run_active') throw error;
      await pause(startInterval);
      return false;
    }
  }

  private async printNew(client: Client, { etaSeconds }: RunSummary): Promise<void> {
    for (;;) {
      const events = await client.call('runs.events', { runId: this.run.id, after: this.printed });
      if (events.length === 0) return;
      for (const event of events) {
        this.printed = event.seq;
        if (event.type === 'resumed' && this.resuming) {
          this.resuming = false;
          continue;
        }
        const left = event === events.at(-1) ? etaSeconds : null;
        const line = this.json ? eventAsJson(event) : eventAsLine(event, this.run, left);
        if (line) this.progress.print(line);
      }
    }
  }
}

/** Events not worth a line of their own. */
const unprinted: readonly string[] = [
  'memory_plan',
  'phase',
  'rollout',
  'rollout_removed',
  'checkpoint_state_removed',
  'acknowledged',
] satisfies EventType[];

function eventAsJson({ seq, time, type, body }: JournalEvent): string | null {
  return unprinted.includes(type) ? null : JSON.stringify({ type, seq, time, ...body });
}

/** `left` is the remaining time in seconds, or null if unknown. */
function eventAsLine({ type, body }: JournalEvent, { id, iterations }: RunSummary, left: number | null): string | null {
  const { iteration, metrics, level, message } = body as {
    iteration: number;
    metrics: Record<string, number>;
    level: string;
    message: string;
  };
  if (type === 'iteration') {
    const line = iterationLine(iteration, iterations, metrics);
    return left === null || iteration >= iterations ? line : `${line}  about ${durationText(left)} left`;
  }
  if (type === 'evaluation') return `evaluation at iteration ${iteration}: success ${successLine(metrics)}`;
  if (type === 'first_step_check') return firstStepLines(body as unknown as FirstStepCheck);
  if (type === 'paused') return pasteable(`paused at iteration ${iteration}; resume it with \`starpo resume ${id}\``);
  if (type === 'resumed') return `resumed at iteration ${iteration}`;
  if (type === 'log') return `${level}: ${message}`;
  if (type === 'environment_alert') return `warning: iteration ${iteration}: ${message}`;
  return isKnownType(type) ? null : (meaningOf({ type, body }).line?.message ?? null);
}

/** Lists the failed checks. `starpo show` lists all. */
const firstStepLines = (check: FirstStepCheck) =>
  [
    `first-step check: ${verdictSummary(check)}`,
    ...notOk(check).map((item) => `  ${item.verdict}: ${checkLine(item)}`),
  ].join('\n');

/** Returns the error for a run that failed or was interrupted. It suggests only what the run's checkpoints allow. */
async function notCompleted(client: Client, { id, status, failure }: RunSummary): Promise<Failure> {
  const [newest] = await client.call('checkpoints.list', { runId: id });
  const again = !newest
    ? `See its log with \`starpo logs ${id}\`.`
    : newest.optimizer
      ? `Resume it from checkpoint ${newest.iteration} with \`starpo resume ${id}\`.`
      : `Fork its newest checkpoint with \`starpo train --from ${id}@${newest.iteration}\`.`;
  if (failure) return new Failure(failure.code, failure.message, `${failure.hint} ${again}`.trim());
  return new Failure(`run_${status}`, `Run ${id} ended without completing (${status}).`, again);
}
