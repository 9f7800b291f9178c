import { type Client, connectionLost, createClient } from '../../contract/client.ts';
import type { JournalEvent, KnownRunStatus, RunSummary } from '../../contract/contract.ts';
import { Failure } from '../../contract/failure.ts';
import { type EventType, isKnownType } from '../../run-directory/events.ts';
import { meaningOf } from '../../run-directory/meaning.ts';
import { hasWebFolder, webFolder } from '../../server/web-app.ts';
import { durationText, iterationLine, print, successLine } from '../output.ts';
import { ProgressLine } from '../progress-line.ts';
import { resolveRun, resolveSource } from '../run-reference.ts';
import { nextSignal } from '../signals.ts';
import type { Studio } from '../studio.ts';
import type { NewRunOptions } from './new.ts';
import { remindOfQueue } from './queue.ts';
import { acrossHosts, withClient, withStudio } from './with-client.ts';

type TrainOptions = NewRunOptions & { json: boolean; queue: boolean };

interface ResumeOptions {
  home?: string;
  json?: boolean;
}

const ends: readonly string[] = ['completed', 'stopped', 'failed', 'interrupted'] satisfies KnownRunStatus[];

/**
 * Makes a run, starts its trainer and follows it to its end, whichever process has the data folder and whichever has it later; where its policy rolls it back, the run that
 * goes on. Meanwhile it serves the app to a browser. Ctrl-C asks the trainer to stop; a second one leaves it to itself. With `queue` the run only waits for its device.
 */
export async function train({ queue, ...options }: TrainOptions): Promise<void> {
  if (queue) return trainLater(options);
  const { home, json, ...run } = options;
  await following(home, json, (studio) => begin(studio, run, json));
}

/** Trains a run on from its last checkpoint, or for the first time, and follows it as {@link train} does. */
export async function resume(named: string, { home, json = false }: ResumeOptions): Promise<void> {
  await following(home, json, (studio) => goOn(studio, named, json));
}

async function following(
  home: string | undefined,
  json: boolean,
  begin: (studio: Studio) => Promise<Follower>,
): Promise<void> {
  await withStudio({ home, endpoint: { port: 0, webFolder } }, async (studio) => {
    const follower = await begin(studio);
    const before = follower.fork;
    let summary = await follower.untilEnd();
    for (let fork = forkOf(summary); fork !== null && fork !== before; fork = forkOf(summary)) {
      const next = await join(studio, fork, json);
      summary = await next.untilEnd();
    }
    if (json)
      print(
        JSON.stringify({
          type: 'ended',
          run: summary.id,
          status: summary.status,
          iteration: summary.iteration,
        }),
      );
    else print(`${summary.status} after iteration ${summary.iteration} of ${summary.iterations}`);
    if (summary.status !== 'completed') throw notCompleted(summary);
  });
}

/** The run that goes on with what this one was rolled back to. */
const forkOf = ({ status, reaction }: RunSummary): string | null =>
  status === 'stopped' && reaction?.state === 'done' ? reaction.fork : null;

/** Follows a run that was made from the one before. */
async function join(studio: Studio, runId: string, json: boolean): Promise<Follower> {
  const channel = await studio.open();
  try {
    const { folder, summary } = await createClient(channel).call('runs.get', { runId });
    const { run, iteration } = summary.parent!;
    print(
      json
        ? JSON.stringify({ type: 'rolled_back', run: runId, folder, parent: run, iteration })
        : `rolled back to iteration ${iteration}\nrun ${runId}\n  in ${folder}`,
    );
    return new Follower(studio, summary, json);
  } finally {
    channel.close();
  }
}

/** Makes a run and lets it wait for its device. */
async function trainLater({ home, json, source, set }: Omit<TrainOptions, 'queue'>): Promise<void> {
  await withClient(home, async (client) => {
    const made = await resolveSource(client, source);
    const { runId } = await client.call('runs.create', { ...made, set, start: false, queue: true });
    const { summary, folder } = await client.call('runs.get', { runId });
    const position = summary.queuePosition;
    if (json) return print(JSON.stringify({ type: 'queued', run: runId, folder, position }));
    print(`run ${runId}\n  in ${folder}\n  number ${position} of the queue`);
    await remindOfQueue(client);
  });
}

async function begin(
  studio: Studio,
  { source, set }: Omit<NewRunOptions, 'home'>,
  json: boolean,
): Promise<Follower> {
  const channel = await studio.open();
  const client = createClient(channel);
  try {
    await client.call('trainer.require', {});
    const made = await resolveSource(client, source);
    const { runId } = await client.call('runs.create', { ...made, set, start: false });
    const { folder, summary } = await client.call('runs.get', { runId });
    print(json ? JSON.stringify({ type: 'created', run: runId, folder }) : `run ${runId}\n  in ${folder}`);
    await sayWhere(studio, client, runId, json);
    return new Follower(studio, summary, json);
  } finally {
    channel.close();
  }
}

/** Starts a run that is there already. Throws as `runs.start` does. */
async function goOn(studio: Studio, named: string, json: boolean): Promise<Follower> {
  const channel = await studio.open();
  const client = createClient(channel);
  try {
    await client.call('trainer.require', {});
    const runId = await resolveRun(client, named);
    const { folder, summary } = await client.call('runs.get', { runId });
    const follower = new Follower(studio, summary, json);
    await follower.passOver(client);
    await client.call('runs.start', { runId });
    const { iteration } = summary;
    print(
      json
        ? JSON.stringify({ type: 'resumed', run: runId, folder, iteration })
        : `run ${runId}, after iteration ${iteration} of ${summary.iterations}\n  in ${folder}`,
    );
    await sayWhere(studio, client, runId, json);
    return follower;
  } finally {
    channel.close();
  }
}

/** Where a run may be watched, and what its disk may not have room for. */
async function sayWhere(studio: Studio, client: Client, runId: string, json: boolean): Promise<void> {
  if (!json && hasWebFolder()) print(`  watch it at ${(await studio.endpoint()).address}`);
  for (const { message, hint } of (await client.call('runs.storage', { runId })).warnings)
    process.stderr.write(`warning: ${message} ${hint}\n`);
}

/** Prints what a run's journal says, and on a terminal how far it is; goes on over another core where the one it heard is gone. */
class Follower {
  private readonly studio: Studio;
  private readonly run: RunSummary;
  private readonly json: boolean;
  private readonly progress = new ProgressLine();
  private printed = -1;

  constructor(studio: Studio, run: RunSummary, json: boolean) {
    this.studio = studio;
    this.run = run;
    this.json = json;
  }

  /** What it was rolled back to before it is followed. */
  get fork(): string | null {
    return this.run.reaction?.fork ?? null;
  }

  /** Leaves unsaid what the journal has by now. */
  async passOver(client: Client): Promise<void> {
    for (;;) {
      const events = await client.call('runs.events', { runId: this.run.id, after: this.printed });
      if (events.length === 0) return;
      this.printed = events.at(-1)!.seq;
    }
  }

  /** Starts the trainer where it wasn't yet, and gives the run as it ended. */
  async untilEnd(): Promise<RunSummary> {
    const signals = nextSignal();
    try {
      return await acrossHosts(this.studio, (client) => this.follow(client, signals.signal));
    } finally {
      this.progress.erase();
      signals.close();
    }
  }

  /** Throws `connection_lost` where this core goes before the run has ended. */
  private follow(client: Client, signal: Promise<NodeJS.Signals>): Promise<RunSummary> {
    const { id: runId } = this.run;
    return new Promise((resolve, reject) => {
      let looking = Promise.resolve();
      const heard = (run: RunSummary) => {
        if (run.id !== runId) return;
        looking = looking
          .then(() => this.printNew(client, run))
          .then(() => {
            if (!this.json) this.progress.show(run);
            // A roll-back that is under way stops this run and goes on as another.
            if (ends.includes(run.status) && run.reaction?.state !== 'begun') resolve(run);
          })
          .catch(reject);
      };
      client.on('run', heard, runId);
      client.on('missed', () =>
        client.call('runs.get', { runId }).then(({ summary }) => heard(summary), reject),
      );
      client.onClose(() => reject(connectionLost()));
      const started = this.start(client);
      started
        .then(() => client.call('runs.get', { runId }))
        .then(({ summary }) => heard(summary))
        .catch(reject);
      const stop = async () => {
        this.progress.erase();
        process.stderr.write('asking the trainer to stop; Ctrl-C again leaves it to itself\n');
        await started;
        await client.call('runs.command', { runId, command: 'stop' }).catch(unless('run_not_active'));
      };
      signal.then(stop).catch(reject);
    });
  }

  /** Once: where a core was lost, the trainer that it started may be there already. */
  private async start(client: Client): Promise<void> {
    const { id: runId } = this.run;
    const { summary } = await client.call('runs.get', { runId });
    if (summary.status === 'created') await client.call('runs.start', { runId }).catch(unless('run_active'));
  }

  private async printNew(client: Client, { etaSeconds }: RunSummary): Promise<void> {
    for (;;) {
      const events = await client.call('runs.events', { runId: this.run.id, after: this.printed });
      if (events.length === 0) return;
      for (const event of events) {
        this.printed = event.seq;
        const left = event === events.at(-1) ? etaSeconds : null;
        const line = this.json ? eventAsJson(event) : eventAsLine(event, this.run.iterations, left);
        if (line) this.progress.print(line);
      }
    }
  }
}

/** Passes over the failure of one code. */
const unless = (code: string) => (error: unknown) => {
  if (!(error instanceof Failure) || error.code !== code) throw error;
};

/** What would say little to who reads lines, or says again what others say. */
const unprinted: readonly string[] = [
  'memory_plan',
  'phase',
  'rollout',
  'rollout_removed',
  'checkpoint_state_removed',
  'acknowledged',
  'paused',
  'resumed',
] satisfies EventType[];

function eventAsJson({ seq, time, type, body }: JournalEvent): string | null {
  return unprinted.includes(type) ? null : JSON.stringify({ type, seq, time, ...body });
}

/** `left`: seconds to the run's end where they are known. */
function eventAsLine({ type, body }: JournalEvent, iterations: number, left: number | null): string | null {
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
  if (type === 'evaluation')
    return `evaluation after iteration ${iteration}: success ${successLine(metrics)}`;
  if (type === 'log') return `${level}: ${message}`;
  return isKnownType(type) ? null : (meaningOf({ type, body }).line?.message ?? null);
}

function notCompleted({ id, status, failure }: RunSummary): Failure {
  const again = `Its checkpoints are kept. \`starpo resume ${id}\` goes on from them; \`starpo show ${id}\` tells more.`;
  if (failure) return new Failure(failure.code, failure.message, `${failure.hint} ${again}`);
  return new Failure(`run_${status}`, `The run ${id} did not complete (${status}).`, again);
}
