import { type Client, connectionLost } from '../../contract/client.ts';
import { Failure } from '../../contract/failure.ts';
import { advise, print, runRow, table } from '../output.ts';
import { nextSignal } from '../signals.ts';
import { acrossHosts, type CommandOptions, withClient, withRun, withStudio } from './with-client.ts';

/** Lists queued runs, next first. */
export async function listQueue({ home, json }: CommandOptions): Promise<void> {
  const fetch = async (client: Client) => ({
    queue: await client.call('queue.list', {}),
    runs: await client.call('runs.list', {}),
  });
  const { queue, runs } = await withClient(home, fetch, { repeatable: true });
  const waiting = queue.runs.flatMap((id) => runs.find((run) => run.id === id) ?? []);
  const { problem, working } = queue;
  if (json) return print(JSON.stringify({ runs: waiting, problem, working }, null, 2));
  if (waiting.length === 0) return advise(empty);
  print(table(waiting.map((run, index) => [String(index + 1), ...runRow(run)])));
  if (problem) print(`The queue is blocked: ${problem.message} ${problem.hint}`);
  else if (!working) advise(idleQueue);
}

export async function addToQueue(named: string, { home }: CommandOptions): Promise<void> {
  await withRun(home, named, async (client, runId) => {
    const { position } = await client.call('queue.add', { runId });
    print(`${runId} is at position ${position} in the queue`);
    await remindOfQueue(client);
  });
}

export async function removeFromQueue(named: string, { home }: CommandOptions): Promise<void> {
  await withRun(home, named, (client, runId) => client.call('queue.remove', { runId }));
}

export async function moveInQueue(named: string, position: number, { home }: CommandOptions): Promise<void> {
  await withRun(home, named, async (client, runId) => {
    const moved = await client.call('queue.move', { runId, position });
    print(`${runId} is at position ${moved.position} in the queue`);
  });
}

/**
 * Trains queued runs one at a time until the queue is empty, through the host if another process is the host. A signal ends the command but not the
 * current trainer.
 */
export async function runQueue({ home }: CommandOptions): Promise<void> {
  const printed = new Map<string, string>();
  const signals = nextSignal();
  try {
    await withStudio({ home, endpoint: { port: 0 } }, async (studio) => {
      const emptied = acrossHosts(studio, (client) => untilEmpty(client, printed));
      await Promise.race([emptied.then(() => printed.size === 0 && advise(empty)), signals.signal]);
    });
  } finally {
    signals.close();
  }
}

/** Lets the host work through the queue and prints status changes. `printed` maps each run to the status last printed. */
function untilEmpty(client: Client, printed: Map<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = () => void isDone(client).then((done) => done && resolve(), reject);
    client.on('run', ({ id, status, iteration, iterations }) => {
      if (status !== 'running') check();
      if (printed.get(id) === status) return;
      printed.set(id, status);
      print(`${id}  ${status}  ${iteration}/${iterations}`);
    });
    client.on('queue', check);
    client.on('missed', check);
    client.onClose(() => reject(connectionLost()));
    client.call('queue.work', {}).then(check, reject);
  });
}

async function isDone(client: Client): Promise<boolean> {
  const { runs: waiting, problem } = await client.call('queue.list', {});
  if (problem) throw new Failure(problem.code, problem.message, problem.hint);
  const runs = await client.call('runs.list', {});
  return waiting.length === 0 && runs.every(({ status }) => status !== 'running' && status !== 'paused');
}

const empty = 'The queue is empty. Add a run with `starpo train PRESET --queue`.';

export const idleQueue =
  'Queued runs do not start, since no app is open on this data folder. Run `starpo queue run` or `starpo serve`.';

/** Prints a reminder if no process works through the queue. */
export async function remindOfQueue(client: Client): Promise<void> {
  if (!(await client.call('queue.list', {})).working) advise(idleQueue);
}
