import { type Client, connectionLost } from '../../contract/client.ts';
import { Failure } from '../../contract/failure.ts';
import { print, runRow, table } from '../output.ts';
import { resolveRun } from '../run-reference.ts';
import { nextSignal } from '../signals.ts';
import { acrossHosts, withClient, withStudio } from './with-client.ts';

interface Options {
  home?: string;
  json?: boolean;
}

/** What waits, next first. */
export async function listQueue({ home, json }: Options): Promise<void> {
  const ask = async (client: Client) => ({
    queue: await client.call('queue.list', {}),
    runs: await client.call('runs.list', {}),
  });
  const { queue, runs } = await withClient(home, ask, { repeatable: true });
  const waiting = queue.runs.flatMap((id) => runs.find((run) => run.id === id) ?? []);
  const { problem, working } = queue;
  if (json) return print(JSON.stringify({ runs: waiting, problem, working }, null, 2));
  if (waiting.length === 0) return print('Nothing waits. `starpo train PRESET --queue` adds a run.');
  print(table(waiting.map((run, index) => [String(index + 1), ...runRow(run)])));
  if (problem) print(`The queue waits: ${problem.message} ${problem.hint}`);
  else if (!working) print(idle);
}

export async function addToQueue(named: string, { home }: Options): Promise<void> {
  await withClient(home, async (client) => {
    const runId = await resolveRun(client, named);
    const { position } = await client.call('queue.add', { runId });
    print(`${runId} is number ${position} of the queue`);
    await remindOfQueue(client);
  });
}

export async function removeFromQueue(named: string, { home }: Options): Promise<void> {
  await withClient(home, async (client) => {
    await client.call('queue.remove', { runId: await resolveRun(client, named) });
  });
}

export async function moveInQueue(named: string, position: number, { home }: Options): Promise<void> {
  await withClient(home, async (client) => {
    const runId = await resolveRun(client, named);
    const moved = await client.call('queue.move', { runId, position });
    print(`${runId} is number ${moved.position} of the queue`);
  });
}

/**
 * Trains what waits, one run after the other, until nothing does, whichever process has the data folder. A signal leaves the trainer that is at
 * work to itself.
 */
export async function runQueue({ home }: Options): Promise<void> {
  const told = new Map<string, string>();
  const signals = nextSignal();
  try {
    await withStudio({ home, endpoint: { port: 0 } }, async (studio) => {
      const emptied = acrossHosts(studio, (client) => untilEmpty(client, told));
      await Promise.race([emptied, signals.signal]);
    });
  } finally {
    signals.close();
  }
}

/** Lets core work through the queue and prints what becomes of its runs. `told`: the status that each was printed with. */
function untilEmpty(client: Client, told: Map<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => void isDone(client).then((done) => done && resolve(), reject);
    client.on('run', ({ id, status, iteration, iterations }) => {
      if (status !== 'running') look();
      if (told.get(id) === status) return;
      told.set(id, status);
      print(`${id}  ${status}  ${iteration}/${iterations}`);
    });
    client.on('queue', look);
    client.on('missed', look);
    client.onClose(() => reject(connectionLost()));
    client.call('queue.work', {}).then(look, reject);
  });
}

async function isDone(client: Client): Promise<boolean> {
  const { runs: waiting, problem } = await client.call('queue.list', {});
  if (problem) throw new Failure(problem.code, problem.message, problem.hint);
  const runs = await client.call('runs.list', {});
  return waiting.length === 0 && runs.every(({ status }) => status !== 'running' && status !== 'paused');
}

const idle = 'No app is open on this data folder: `starpo queue run` or `starpo serve` starts what waits.';

/** A queue without anybody who works through it stays as it is. */
export async function remindOfQueue(client: Client): Promise<void> {
  if (!(await client.call('queue.list', {})).working) print(idle);
}
