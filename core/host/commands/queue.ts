import type { Client } from '../../api/client.ts';
import { Failure } from '../../api/failure.ts';
import { dataFolder } from '../../home.ts';
import { readHost } from '../host-file.ts';
import { print, runRow, table } from '../output.ts';
import { nextSignal } from '../signals.ts';
import { withClient } from './with-client.ts';

interface Options {
  home?: string;
  json?: boolean;
}

/** What waits, next first. */
export async function listQueue({ home, json }: Options): Promise<void> {
  await withClient(home, async (client) => {
    const { runs: ids, problem } = await client.call('queue.list', {});
    const all = await client.call('runs.list', {});
    const waiting = ids.flatMap((id) => all.find((run) => run.id === id) ?? []);
    if (json) return print(JSON.stringify({ runs: waiting, problem }, null, 2));
    if (waiting.length === 0) return print('Nothing waits. `starpo train PRESET --queue` adds a run.');
    print(table(waiting.map((run, index) => [String(index + 1), ...runRow(run)])));
    if (problem) print(`The queue waits: ${problem.message} ${problem.hint}`);
    else remindOfHost(home);
  });
}

export async function addToQueue(runId: string, { home }: Options): Promise<void> {
  await withClient(home, async (client) => {
    const { position } = await client.call('queue.add', { runId });
    print(`${runId} is number ${position} of the queue`);
    remindOfHost(home);
  });
}

export async function removeFromQueue(runId: string, { home }: Options): Promise<void> {
  await withClient(home, (client) => client.call('queue.remove', { runId }));
}

export async function moveInQueue(runId: string, position: number, { home }: Options): Promise<void> {
  await withClient(home, async (client) => {
    const moved = await client.call('queue.move', { runId, position });
    print(`${runId} is number ${moved.position} of the queue`);
  });
}

/** Trains what waits, one run after the other, until nothing does. A signal leaves the trainer that is at work to itself. */
export async function runQueue({ home }: Options): Promise<void> {
  await withClient(home, async (client) => {
    const told = new Map<string, string>();
    const signals = nextSignal();
    const stopNotices: (() => void)[] = [];
    const emptied = new Promise<void>((resolve, reject) => {
      const look = () => void isDone(client).then((done) => done && resolve(), reject);
      stopNotices.push(
        client.on('run', ({ id, status, iteration, iterations }) => {
          if (status !== 'running') look();
          if (told.get(id) === status) return;
          told.set(id, status);
          print(`${id}  ${status}  ${iteration}/${iterations}`);
        }),
      );
      client.onClose(() => reject(new Failure('connection_lost', 'The host has ended.', 'Run it again.')));
      client.call('queue.work', {}).then(look, reject);
    });
    try {
      await Promise.race([emptied, signals.signal]);
    } finally {
      signals.close();
      for (const stop of stopNotices) stop();
    }
  });
}

async function isDone(client: Client): Promise<boolean> {
  const { runs: waiting, problem } = await client.call('queue.list', {});
  if (problem) throw new Failure(problem.code, problem.message, problem.hint);
  const runs = await client.call('runs.list', {});
  return waiting.length === 0 && runs.every(({ status }) => status !== 'running' && status !== 'paused');
}

/** A queue without anybody who works through it stays as it is. */
export function remindOfHost(home: string | undefined): void {
  if (readHost(dataFolder(home))) return;
  print(
    'No StarPO Studio is open on this data folder: `starpo queue run` or `starpo serve` starts what waits.',
  );
}
