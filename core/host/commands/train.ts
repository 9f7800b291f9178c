import type { RunSummary } from '../../api/contract.ts';
import { Failure } from '../../api/failure.ts';
import { eventsAfter, type StoredEvent } from '../../history/queries.ts';
import type { Core } from '../../index.ts';
import type { NewRun } from '../../runs/create-run.ts';
import { iterationLine, print, successLine } from '../output.ts';
import { nextSignal } from '../signals.ts';
import { remindOfHost } from './queue.ts';
import { withClient } from './with-client.ts';
import { withCore } from './with-core.ts';

type TrainOptions = NewRun & { home?: string | undefined; json: boolean; queue: boolean };

const ended = (run: RunSummary) =>
  run.status !== 'running' && run.status !== 'paused' && run.status !== 'created';

/** Makes a run, starts its trainer and follows it to its end. Ctrl-C asks the trainer to stop; a second one leaves it to itself. */
export async function train({ home, json, queue, ...run }: TrainOptions): Promise<void> {
  if (queue) return trainLater(run, home, json);
  await withCore(home, async (core) => {
    core.trainer.require();
    const runId = await core.runs.create(run);
    const folder = core.runs.folder(runId);
    print(json ? JSON.stringify({ type: 'created', run: runId, folder }) : `run ${runId}\n  in ${folder}`);
    for (const { message, hint } of (await core.storage.of(runId)).warnings)
      process.stderr.write(`warning: ${message} ${hint}\n`);
    const starting = core.runs.start(runId);
    const follower = follow(core, runId, json, starting);
    try {
      await starting;
      const summary = await follower.end;
      if (json)
        print(
          JSON.stringify({ type: 'ended', run: runId, status: summary.status, iteration: summary.iteration }),
        );
      else print(`${summary.status} after iteration ${summary.iteration} of ${summary.iterations}`);
      if (summary.status !== 'completed') throw notCompleted(summary);
    } finally {
      follower.close();
    }
  });
}

/** Makes a run and lets it wait for its device. */
async function trainLater(run: NewRun, home: string | undefined, json: boolean): Promise<void> {
  await withClient(home, async (client) => {
    const { runId } = await client.call('runs.create', { ...run, start: false, queue: true });
    const { summary, folder } = await client.call('runs.get', { runId });
    const position = summary.queuePosition;
    if (json) return print(JSON.stringify({ type: 'queued', run: runId, folder, position }));
    print(`run ${runId}\n  in ${folder}\n  number ${position} of the queue`);
    remindOfHost(home);
  });
}

function follow(
  core: Core,
  runId: string,
  json: boolean,
  starting: Promise<void>,
): { end: Promise<RunSummary>; close(): void } {
  const signals = nextSignal();
  const { iterations } = core.runs.get(runId);
  let printed = -1;
  const printNew = () => {
    for (const event of eventsAfter(core.database, runId, printed, Number.MAX_SAFE_INTEGER)) {
      printed = event.seq;
      const line = json ? eventAsJson(event) : eventAsLine(event, iterations);
      if (line) print(line);
    }
  };
  const stopEvents = core.supervisor.onEvents((id) => {
    if (id === runId) printNew();
  });
  let stopNotices = () => {};
  const end = new Promise<RunSummary>((resolve, reject) => {
    stopNotices = core.notices.on((name, payload) => {
      const summary = payload as RunSummary;
      if (name === 'run' && summary.id === runId && ended(summary)) resolve(summary);
    });
    const stop = async () => {
      process.stderr.write('asking the trainer to stop; Ctrl-C again leaves it to itself\n');
      await starting;
      await core.runs.command(runId, 'stop');
    };
    signals.signal.then(stop).catch(reject);
  });
  end.catch(() => {});
  return {
    end,
    close: () => {
      signals.close();
      stopEvents();
      stopNotices();
    },
  };
}

const printedTypes = ['started', 'iteration', 'evaluation', 'checkpoint', 'log', 'stopped', 'failed'];

function eventAsJson({ seq, time, type, body }: StoredEvent): string | null {
  return printedTypes.includes(type) ? JSON.stringify({ type, seq, time, ...JSON.parse(body) }) : null;
}

function eventAsLine({ type, body: text }: StoredEvent, iterations: number): string | null {
  const body = JSON.parse(text);
  if (type === 'iteration') return iterationLine(body.iteration, iterations, body.metrics);
  if (type === 'evaluation')
    return `evaluation after iteration ${body.iteration}: success ${successLine(body.metrics)}`;
  if (type === 'log') return `${body.level}: ${body.message}`;
  return null;
}

function notCompleted({ id, status, failure }: RunSummary): Failure {
  const again = `Its checkpoints are kept. \`starpo serve\` resumes it; \`starpo show ${id}\` tells more.`;
  if (failure) return new Failure(failure.code, failure.message, `${failure.hint} ${again}`);
  return new Failure(`run_${status}`, `The run ${id} did not complete (${status}).`, again);
}
