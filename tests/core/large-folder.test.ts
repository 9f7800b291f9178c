import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, readdirSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { brief, logLine, tenHours, writeRun } from '../../benchmarks/app/data-folder.ts';
import { createClient } from '../../core/contract/client.ts';
import type { Notice } from '../../core/contract/contract.ts';
import { keyFromToken } from '../../core/contract/handshake.ts';
import { openWebSocket, type SocketConstructor } from '../../core/contract/web-socket.ts';
import { Supervisor } from '../../core/run-sync/supervisor.ts';
import { thorough } from '../thorough.ts';
import { starpo } from './fixtures/child.ts';
import { openApi } from './fixtures/sign-in.ts';
import { World } from './fixtures/world.ts';

describe('a large data folder', { timeout: 300_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.close());

  test('is ingested while clients are served: many runs and a long run', async () => {
    const [short, long] = thorough ? [1000, tenHours] : [200, { ...tenHours, iterations: 150 }];
    const all = short + 1;
    const events = writeRun(world.home, 'long', long);
    for (let index = 0; index < short; index++) writeRun(world.home, `run-${index}`, { ...brief, iterations: 1 });
    const studio = await world.studio({ inBackground: true });
    const client = createClient(await studio.open());
    const published = new Set<string>();
    const ended = new Promise<Notice<'task'>>((resolve) => {
      client.on('task', (task) => task.state === 'done' && resolve(task));
    });
    client.on('run', ({ id }) => published.add(id));
    // The server starts before ingestion ends, and a requested run is ingested first.
    const early = await client.call('tasks.list', {});
    expect(early).toMatchObject([{ kind: 'ingest', state: 'running', cancelable: false }]);
    expect((await client.call('runs.list', {})).length).toBeLessThan(all);
    const { summary } = await client.call('runs.get', { runId: 'long' });
    expect(summary).toMatchObject({ status: 'completed', iteration: long.iterations });

    await client.call('history.ready', {});
    expect(await ended).toMatchObject({ kind: 'ingest', done: all, total: all });
    const runs = await client.call('runs.list', {});
    expect(runs).toHaveLength(all);
    expect(runs.filter(({ status }) => status !== 'completed')).toEqual([]);
    expect(published.size).toBeGreaterThan(0.9 * all);
    const series = await client.call('runs.series', { runId: 'long', names: ['group0/metric_0'] });
    expect(series[0]!.iterations).toHaveLength(long.iterations);
    // The journal offset after ingestion is the end of the file.
    const [last] = (await client.call('runs.events', { runId: 'long', after: events - 2 })).slice(-1);
    expect(last).toMatchObject({ seq: events - 1, type: 'stopped' });
    expect(await client.call('history.rebuild', {})).toMatchObject({ runs: all, unreadable: [] });
  });

  test('a rebuild can be canceled, without the same task of another client, and leaves a usable run history', async () => {
    const runs = thorough ? 300 : 80;
    for (let index = 0; index < runs; index++) writeRun(world.home, `run-${index}`, brief);
    const studio = await world.studio();
    const client = createClient(await studio.open());
    const other = createClient(await studio.open());
    const [taskId, otherId] = [randomUUID(), randomUUID()];
    const started = new Promise<void>((resolve) => {
      client.on('task', (task) => task.id === taskId && resolve());
    });
    const finished = other.call('history.rebuild', {}, otherId);
    const rebuilt = client.call('history.rebuild', {}, taskId);
    rebuilt.catch(() => {});
    await started;
    await client.call('tasks.cancel', { taskId });
    await expect(rebuilt).rejects.toMatchObject({ code: 'task_canceled' });
    expect(await finished).toMatchObject({ runs });
    expect(await client.call('tasks.list', {})).toEqual([]);
    expect(await client.call('runs.list', {})).toHaveLength(runs);
    await expect(client.call('tasks.cancel', { taskId: 'x' })).rejects.toMatchObject({
      code: 'task_unknown',
    });
  });

  test('Ctrl+C cancels a rebuild with or without a host and leaves a usable run history', async () => {
    const runs = 20;
    for (let index = 0; index < runs; index++) writeRun(world.home, `run-${index}`, brief);
    const startRebuild = () => starpo(['history', 'rebuild'], world.environment());
    const canceled = { status: 130, output: '', errors: expect.stringContaining('task_canceled') };
    const studio = await world.studio();
    const client = createClient(await studio.open());
    await client.call('history.ready', {});
    const taskIn = (state: string) =>
      new Promise<void>((resolve) => {
        client.on('task', (task) => task.kind === 'rebuild' && task.state === state && resolve());
      });
    const [started, ended] = [taskIn('running'), taskIn('canceled')];
    // The rebuild waits for its cancellation.
    const { rebuild } = Supervisor.prototype;
    const waiting = vi.spyOn(Supervisor.prototype, 'rebuild').mockImplementation(async function (
      this: Supervisor,
      options = {},
    ) {
      await new Promise((resolve) => options.signal!.addEventListener('abort', resolve));
      return rebuild.call(this, options);
    });
    const inHost = startRebuild();
    await started;
    expect(await inHost.kill('SIGINT')).toMatchObject(canceled);
    await ended;
    waiting.mockRestore();
    expect(await client.call('runs.list', {})).toHaveLength(runs);

    await world.end();
    // The first run's configuration is a pipe, so ingestion waits for the other end.
    const folder = join(world.home, 'runs', readdirSync(join(world.home, 'runs'))[0]!);
    const [config, original] = [join(folder, 'run.json'), join(folder, 'original.json')];
    renameSync(config, original);
    execFileSync('mkfifo', [config]);
    const withoutHost = startRebuild();
    const end = await open(config, 'w');
    renameSync(original, config);
    const killed = withoutHost.kill('SIGINT');
    await end.close();
    expect(await killed).toMatchObject(canceled);
    const { output } = await starpo(['runs', '--json'], world.environment()).finished;
    expect(JSON.parse(output)).toHaveLength(runs);
  });

  test('a client that stops reading misses notices and receives a request to reload; other clients receive all', async () => {
    const lines = 6000;
    const journalFile = join(world.home, 'runs/run/events.jsonl');
    const first = writeRun(world.home, 'run', brief);
    const endpoint = await (await world.studio()).endpoint();
    const sockets: WebSocket[] = [];
    class Pausable extends WebSocket {
      constructor(address: string, protocols: string[]) {
        super(address, protocols);
        sockets.push(this);
      }
    }
    const key = await keyFromToken(endpoint.token, endpoint.origin);
    const slow = createClient(await openWebSocket(endpoint.origin, key, Pausable as unknown as SocketConstructor));
    let received = 0;
    slow.on('log', () => {
      received += 1;
    });
    const missed = new Promise<void>((resolve) => slow.on('missed', () => resolve()));
    await slow.call('runs.list', {});
    sockets[0]!.pause();

    const other = createClient(await openApi(endpoint));
    const all: number[] = [];
    const complete = new Promise<void>((resolve) => {
      other.on('log', ({ line }) => all.push(line.seq) === lines && resolve(), 'run');
    });
    await other.call('runs.list', {});
    for (let batch = 0; batch < 6; batch++) {
      const seqs = Array.from({ length: lines / 6 }, (_, index) => first + (batch * lines) / 6 + index);
      appendFileSync(journalFile, seqs.map(logLine).join(''));
    }
    await complete;
    expect(all).toEqual(Array.from({ length: lines }, (_, index) => first + index));
    sockets[0]!.resume();
    await missed;
    expect(received).toBeGreaterThan(0);
    expect(received).toBeLessThan(lines / 2);
    expect((await slow.call('runs.log', { runId: 'run' })).length).toBe(lines + 2);
  });
});
