import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../core/contract/client.ts';
import { type HostRecord, readHost } from '../../core/data-folder/host-file.ts';
import { openDatabase } from '../../core/history/database.ts';
import type { Studio } from '../../core/host/studio.ts';
import { Child, starpo } from './fixtures/child.ts';
import * as journal from './fixtures/journal.ts';
import { openApi } from './fixtures/sign-in.ts';
import { World } from './fixtures/world.ts';

const runIds = async (studio: Studio) => {
  const channel = await studio.open();
  const runs = await createClient(channel).call('runs.list', {});
  channel.close();
  return runs.map((run) => run.id);
};

describe('a data folder', { timeout: 300_000 }, () => {
  let world: World;
  const children: Child[] = [];
  beforeEach(() => {
    world = new World();
    world.run('some-run', [journal.started(0), journal.stopped(1, 0)]);
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map((each) => each.kill()));
    await world.close();
  });
  const hostFile = () => join(world.home, 'host.json');
  const app = async () => {
    const child = new Child('tests/core/fixtures/following-core.ts', [world.home], world.environment());
    children.push(child);
    await child.line(/^ready$/);
    return child;
  };
  /** Returns the pid of a process that has exited. */
  const deadPid = () => spawnSync(process.execPath, ['--version']).pid;
  const record = (changes: Partial<HostRecord> = {}): HostRecord => ({
    address: 'http://127.0.0.1:9',
    token: '0'.repeat(64),
    pid: process.pid,
    host: hostname(),
    ...changes,
  });

  test('that is moved closes its apps, which report the reason, is not created again and keeps its runs', async () => {
    const [host, client] = [await world.studio(), await world.studio()];
    const serving = starpo(['serve', '--port', '0'], world.environment());
    children.push(serving);
    await serving.line(/^Data folder/);
    const moved = `${world.home}-moved`;
    renameSync(world.home, moved);
    const failure = {
      code: 'data_folder_moved',
      message: `The data folder ${world.home} was moved, replaced or unmounted.`,
    };
    for (const studio of [host, client]) {
      expect(await studio.ended).toMatchObject(failure);
      await expect(studio.open()).rejects.toMatchObject(failure);
    }
    const { status, errors } = await serving.finished;
    expect(status).toBe(1);
    expect(errors).toContain(`error: ${failure.message}`);
    await world.end();
    expect(existsSync(world.home)).toBe(false);
    renameSync(moved, world.home);
    expect(await runIds(await world.studio())).toEqual(['some-run']);
  });

  test('is hosted by the first app, whose record only the owner can read', async () => {
    const host = await world.studio();
    const { origin, token, address } = await host.endpoint();
    expect(statSync(hostFile()).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(hostFile(), 'utf8'))).toEqual(record({ address: origin, token, pid: process.pid }));
    expect(address).toMatch(new RegExp(`^${origin}/#sign-in=[0-9a-f]{32}$`));
    expect(address).not.toContain(token);
    const client = await world.studio();
    expect(await runIds(client)).toEqual(['some-run']);
    expect(readHost(world.home)?.address).toBe(origin);
    await expect(world.core()).rejects.toMatchObject({ code: 'data_folder_in_use' });
    await client.close();
    expect(existsSync(hostFile())).toBe(true);
    await host.close();
    expect(existsSync(hostFile())).toBe(false);
  });

  test('is taken over by a client when its host exits, and connections through either can reconnect', async () => {
    const host = await world.studio();
    const client = await world.studio();
    const { origin, token } = await client.endpoint();
    const page = await openApi({ origin, token });
    const lost = new Promise<void>((resolve) => page.onClose(resolve));
    expect(await createClient(page).call('runs.list', {})).toHaveLength(1);
    await host.close();
    await lost;
    const reconnected = await openApi({ origin, token });
    expect(await createClient(reconnected).call('runs.list', {})).toHaveLength(1);
    expect(readHost(world.home)).toEqual(record({ address: origin, token }));
    reconnected.close();
  });

  test('has a host that answers pending requests before it exits, also through a client', async () => {
    const host = await world.studio();
    const endpoints = [await host.endpoint(), await (await world.studio()).endpoint()];
    const pending = await Promise.all(
      endpoints.map(async (endpoint) => {
        const client = createClient(await openApi(endpoint));
        const answer = client.call('system.info', {});
        // Requests arrive in order, so the quick answer shows that the first request arrived.
        await client.call('runs.list', {});
        return { answer };
      }),
    );
    await host.close();
    for (const { answer } of pending) expect(await answer).toMatchObject({ dataFolder: world.home });
  });

  test('is taken over by exactly one client when its host is killed', async () => {
    const host = await app();
    const [first, second] = [await app(), await world.studio()];
    expect(readHost(world.home)?.pid).toBe(host.process.pid);
    await host.kill();
    expect(await runIds(second)).toEqual(['some-run']);
    expect([first.process.pid, process.pid]).toContain(readHost(world.home)?.pid);
    await first.kill();
    expect(await runIds(second)).toEqual(['some-run']);
    expect(readHost(world.home)?.pid).toBe(process.pid);
    expect(world.logged).toEqual([]);
  });

  test.each<[string, () => string]>([
    ['is empty', () => ''],
    ['is garbage', () => 'garbage'],
    ['is incomplete', () => '{"pid":1}'],
    ['names an exited process', () => JSON.stringify(record({ pid: deadPid() }))],
    ['names a process of another program', () => JSON.stringify(record({ pid: process.ppid }))],
    ['names another machine that released it', () => JSON.stringify(record({ host: 'elsewhere' }))],
    ['has a foreign address', () => JSON.stringify(record({ address: 'http://evil.example:80' }))],
  ])('gets a new host if host.json %s', async (_, text) => {
    writeFileSync(hostFile(), text());
    const studio = await world.studio();
    expect(await runIds(studio)).toEqual(['some-run']);
    expect(readHost(world.home)?.address).toBe((await studio.endpoint()).origin);
  });

  test('trains queued runs while an app is open, as host or client', async () => {
    const host = await world.studio();
    const queueRun = async (studio: Studio) => {
      const client = createClient(await studio.open());
      const completed = new Promise<string>((resolve) => {
        client.on('run', ({ id, status }) => status === 'completed' && resolve(id));
      });
      const set = { iterations: 1, 'rollout.groups': 1 };
      const input = { preset: 'starter-bandit', set, start: false, queue: true };
      return { client, runId: (await client.call('runs.create', input)).runId, completed };
    };
    const first = await queueRun(host);
    expect(await first.client.call('queue.list', {})).toMatchObject({ runs: [first.runId], working: false });
    const app = await world.studio({ worksQueue: true });
    expect(await first.completed).toBe(first.runId);
    await host.close();
    const second = await queueRun(app);
    expect(await second.completed).toBe(second.runId);
  });

  test('waits for a host that is just starting', async () => {
    const starting = openDatabase(world.home);
    writeFileSync(hostFile(), 'garbage');
    const command = starpo(['runs', '--json'], world.environment());
    const opening = world.studio();
    starting.close();
    expect(await runIds(await opening)).toEqual(['some-run']);
    const { status, output, errors } = await command.finished;
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    expect(JSON.parse(output)).toHaveLength(1);
  });

  test('concurrent commands wait for each other', async () => {
    const all = await Promise.all([1, 2, 3].map(() => starpo(['new', 'starter-bandit'], world.environment()).finished));
    expect(all).toMatchObject([1, 2, 3].map(() => ({ status: 0, errors: '' })));
    expect(new Set(all.map(({ output }) => output)).size).toBe(3);
  });

  test('is reported as in use on another machine', async () => {
    const lock = openDatabase(world.home);
    writeFileSync(hostFile(), JSON.stringify(record({ host: 'gpu-server', pid: 42 })));
    const error = { code: 'data_folder_elsewhere', message: expect.stringMatching(/gpu-server.*42/) };
    await expect(world.studio({ timeout: 10 })).rejects.toMatchObject(error);
    lock.close();
  });

  test.each<[string, () => Partial<HostRecord> | null, RegExp]>([
    ['an unknown process', () => null, /its process and address are unknown/],
    ['a process that does not listen', () => ({}), new RegExp(`process ${process.pid}`)],
  ])('in use by %s is rejected', async (_, changes, message) => {
    const lock = openDatabase(world.home);
    const changed = changes();
    if (changed) writeFileSync(hostFile(), JSON.stringify(record(changed)));
    const error = {
      code: 'host_unreachable',
      hint: expect.stringMatching(/./),
      message: expect.stringMatching(message),
    };
    await expect(world.studio({ timeout: 10 })).rejects.toMatchObject(error);
    lock.close();
  });

  test('is reported if its host.json has the address of another program', async () => {
    const other = createServer((_request, response) => void response.end('hello'));
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const { port } = other.address() as AddressInfo;
    const lock = openDatabase(world.home);
    writeFileSync(hostFile(), JSON.stringify(record({ address: `http://127.0.0.1:${port}` })));
    await expect(world.studio({ timeout: 10 })).rejects.toMatchObject({ code: 'host_unreachable' });
    lock.close();
    other.close();
  });

  test('keeps its token unless others could read it or it is invalid', async () => {
    const tokenNow = async () => {
      const studio = await world.studio();
      const { token } = await studio.endpoint();
      await studio.close();
      expect(statSync(join(world.home, 'token')).mode & 0o777).toBe(0o600);
      return token;
    };
    const first = await tokenNow();
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await tokenNow()).toBe(first);
    chmodSync(join(world.home, 'token'), 0o644);
    const second = await tokenNow();
    expect(second).not.toBe(first);
    writeFileSync(join(world.home, 'token'), 'short');
    expect(await tokenNow()).not.toBe(second);
  });

  test.each([
    ['token', 'token'],
    ['database', 'studio.db'],
  ])('without a usable %s is reported and unlocked again', async (_, name) => {
    mkdirSync(join(world.home, name));
    const error = { code: 'data_folder_unusable', hint: expect.stringMatching(/./) };
    await expect(world.studio()).rejects.toMatchObject(error);
    if (name === 'token') openDatabase(world.home).close();
  });
});
