import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { channelPair } from '../../core/contract/channel.ts';
import { type Client, connectionLost, createClient } from '../../core/contract/client.ts';
import type { ProcedureName } from '../../core/contract/contract.ts';
import { readHost } from '../../core/data-folder/host-file.ts';
import { extension, newRunFrom } from '../../core/host/commands/new.ts';
import { acrossHosts } from '../../core/host/commands/with-client.ts';
import type { Studio } from '../../core/host/studio.ts';
import { untilEnded } from '../../core/host/until-ended.ts';
import { withExport } from '../../core/host/with-export.ts';
import { Supervisor } from '../../core/run-sync/supervisor.ts';
import { serveChannel } from '../../core/server/serve-channel.ts';
import { type Child, starpo } from './fixtures/child.ts';
import { starpoHere } from './fixtures/command.ts';
import { fakeTrainer, World } from './fixtures/world.ts';

const until = (check: () => boolean) => vi.waitFor(() => expect(check()).toBe(true), { timeout: 60_000 });

/** Returns the iterations that a command printed. */
const iterationsIn = (output: string) => [...output.matchAll(/^iteration (\d+)\//gm)].map((match) => Number(match[1]));

describe('when the host exits,', { timeout: 300_000 }, () => {
  let world: World;
  const children: Child[] = [];
  beforeEach(() => {
    world = new World();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    await Promise.all(children.splice(0).map((each) => each.kill()));
    await world.close();
  });
  const start = (args: readonly string[], settings: Record<string, string> = {}) => {
    const child = starpo(args, world.environment(settings));
    children.push(child);
    return child;
  };
  const serve = async (settings: Record<string, string>) => {
    const host = start(['serve', '--port', '0'], settings);
    await host.line(/^StarPO Studio is at/);
    return host;
  };
  const fileOf = (runId: string, name: string) => join(world.home, 'runs', runId, name);
  const runAtIteration2 = async (settings: Record<string, string> = {}) => {
    const host = await serve({ FAKE_TRAINER_HOLD: '2', ...settings });
    const training = start(['train', 'starter-bandit', '--set', 'iterations=4']);
    const [, id = ''] = await training.line(/^run (\S+)$/);
    await training.line(/^iteration 2\//);
    const { pid } = JSON.parse(readFileSync(fileOf(id, 'trainer.lock'), 'utf8'));
    return { id, pid, host, training };
  };
  const isHost = ({ process }: Child) => readHost(world.home)?.pid === process.pid;

  test.each([
    ['ends', async (host: Child) => expect(await host.finished).toMatchObject({ status: 0, errors: '' })],
    ['is killed', async (host: Child) => void (await host.kill())],
  ])('train follows its run to the end: the host, another train, %s', async (_, end) => {
    const train = ['train', 'starter-bandit', '--set', 'iterations=4'];
    const host = start(train, { FAKE_TRAINER_HOLD: '2,3' });
    const [, first] = await host.line(/^run (\S+)$/);
    await host.line(/^iteration 2\//);
    const other = start(train);
    const [, second] = await other.line(/^run (\S+)$/);
    await other.line(/^iteration 2\//);
    expect(isHost(host)).toBe(true);
    const studio = await world.studio();
    const release = async (runId: string) =>
      createClient(await studio.open()).call('runs.command', { runId, command: 'checkpoint' });
    await release(first!);
    await host.line(/^iteration 3\//);
    await release(first!);
    await end(host);
    await release(second!);
    await other.line(/^iteration 3\//);
    await release(second!);
    const { status, output, errors } = await other.finished;
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    expect(iterationsIn(output)).toEqual([1, 2, 3, 4]);
    expect(output).toMatch(/completed after iteration 4 of 4$/);
  });

  test.each([
    ['train', ['train', 'starter-bandit', '--set', 'iterations=2'], 'completed'],
    ['train --queue', ['train', 'starter-bandit', '--queue'], 'queued'],
    ['new', ['new', 'starter-bandit'], 'created'],
  ])('%s creates its run through the next host', async (_, args, status) => {
    const pipe = join(world.folder, 'pipe');
    const host = await serve({ FAKE_TRAINER_VALIDATE_HOLD: pipe });
    execFileSync('mkfifo', [pipe]);
    const command = starpoHere(args, world.environment());
    const validating = await open(pipe, 'w');
    await host.kill();
    expect(await command).toMatchObject({ status: 0 });
    await validating.close();
    const client = createClient(await (await world.studio()).open());
    expect(await client.call('runs.list', {})).toMatchObject([{ status }]);
  });

  test.each([
    ['a new run', () => newRunFrom({ source: { preset: 'starter-bandit' }, set: {}, marks: {} }, { start: false })],
    [
      'a queued run',
      () => newRunFrom({ source: { run: 'starter' }, set: {}, marks: {} }, { start: false, queue: true }),
    ],
    ['an extension', () => extension('starter', 2, { start: false })],
  ])('%s is not created twice if it was created before the answer', async (_, creation) => {
    const client = createClient(await (await world.studio()).open());
    const set = { iterations: 1, 'checkpoint.every': 1 };
    const { runId } = await client.call('runs.create', { preset: 'starter-bandit', set, start: true });
    await untilEnded(client, runId);
    const losing: Client = {
      ...client,
      call: async (name: ProcedureName, ...rest: [never]) => {
        const answer = await client.call(name, ...rest);
        if (name === 'runs.create' || name === 'runs.trainMore') throw connectionLost();
        return answer as never;
      },
    };
    const create = creation();
    await expect(create(losing)).rejects.toMatchObject({ code: 'connection_lost' });
    const created = await create(client);
    const ids = (await client.call('runs.list', {})).map(({ id }) => id);
    expect(ids.toSorted()).toEqual([runId, created].toSorted());
  });

  test('train and resume wait for a trainer that loads its model', async () => {
    const failing = await serve({ FAKE_TRAINER_START_HOLD: '1', FAKE_TRAINER_FAIL: '2' });
    const training = start(['train', 'starter-bandit', '--set', 'iterations=4']);
    const [, id] = await training.line(/^run (\S+)$/);
    const continueWith = async (host: Child, command: Child) => {
      const lock = fileOf(id!, 'trainer.lock');
      await until(() => existsSync(lock) && readFileSync(lock, 'utf8').endsWith('}'));
      await host.kill();
      await until(() => isHost(command));
      writeFileSync(fileOf(id!, 'go'), '');
      return command.finished;
    };
    const failed = await continueWith(failing, training);
    expect(failed).toMatchObject({ status: 1, errors: expect.stringContaining(`\`starpo resume ${id}\``) });
    expect(iterationsIn(failed.output)).toEqual([1, 2]);

    rmSync(fileOf(id!, 'go'));
    const loading = await serve({ FAKE_TRAINER_START_HOLD: '1' });
    const { status, output, errors } = await continueWith(loading, start(['resume', id!]));
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    expect(iterationsIn(output)).toEqual([3, 4]);
    expect(readdirSync(join(world.home, 'runs'))).toEqual([id]);
  });

  test('stop waits for the end of its run', async () => {
    const { id, pid, host, training } = await runAtIteration2();
    process.kill(pid, 'SIGSTOP');
    const stopping = starpoHere(['stop', id], world.environment());
    await until(() => existsSync(fileOf(id, 'control.jsonl')));
    await host.kill();
    process.kill(pid, 'SIGCONT');
    const text = `Stopped after iteration 2 of 4; checkpoint saved. Resume it with \`starpo resume ${id}\`.`;
    expect(await stopping).toEqual({ status: 0, output: text, errors: '' });
    expect(await training.finished).toMatchObject({ status: 1, output: expect.stringContaining(text) });
  });

  test('pause and resume repeat a request that the trainer has received already', async () => {
    const { id, pid, host, training } = await runAtIteration2();
    const repeated = async (args: string[], from: Child) => {
      const count = () => (existsSync(control) ? readFileSync(control, 'utf8').split('\n').length - 1 : 0);
      const control = fileOf(id, 'control.jsonl');
      const before = count();
      process.kill(pid, 'SIGSTOP');
      const command = starpoHere(args, world.environment());
      await until(() => count() === before + 1);
      await from.kill();
      await until(() => count() === before + 2);
      process.kill(pid, 'SIGCONT');
      return command;
    };
    const paused = await repeated(['pause', id], host);
    expect(paused).toEqual({ status: 0, output: `paused ${id}; resume it with \`starpo resume ${id}\``, errors: '' });
    await training.kill();
    const resumed = await repeated(['resume', id], await serve({}));
    expect(resumed).toMatchObject({ status: 0, errors: '' });
    expect(iterationsIn(resumed.output).slice(-2)).toEqual([3, 4]);
  });

  test('resume does not wait for the end of a run that was running before', async () => {
    const pipe = join(world.folder, 'pipe');
    const { id, host } = await runAtIteration2({ FAKE_TRAINER_STATUS_HOLD: pipe });
    execFileSync('mkfifo', [pipe]);
    const resuming = starpoHere(['resume', id], world.environment());
    // Opens when the host's trainer reads the pipe.
    const asked = await open(pipe, 'w');
    await host.kill();
    await asked.close();
    expect(await resuming).toMatchObject({ status: 1, errors: expect.stringContaining('is already running') });
  });

  test('resume starts a run whose last start was not indexed', async () => {
    const studio = await world.studio();
    const client = createClient(await studio.open());
    vi.stubEnv('FAKE_TRAINER_FAIL', '2');
    const set = { iterations: 4, 'checkpoint.every': 1 };
    const { runId } = await client.call('runs.create', { preset: 'starter-bandit', set, start: true });
    await untilEnded(client, runId);
    // The next host does not see another start in time.
    await world.end();
    await world.studio();
    vi.spyOn(Supervisor.prototype as unknown as { pollNow(): void }, 'pollNow').mockReturnValue();
    const journal = fileOf(runId, 'events.jsonl');
    const events = readFileSync(journal, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const seq = events.at(-1).seq;
    const again = ['started', 'failed'].map((type, i) => ({
      ...events.find((event) => event.type === type),
      seq: seq + 1 + i,
    }));
    for (const event of again) appendFileSync(journal, `${JSON.stringify(event)}\n`);
    const { status, output } = await starpoHere(['resume', runId], world.environment());
    expect({ status, iterations: iterationsIn(output) }).toEqual({ status: 0, iterations: [3, 4] });
  });

  test('a command waits until the next host has indexed its runs', async () => {
    const { start: index } = Supervisor.prototype;
    const asked = Promise.withResolvers<void>();
    vi.spyOn(Supervisor.prototype, 'start').mockImplementation(async function (this: Supervisor, progress) {
      await asked.promise;
      await index.call(this, progress);
    });
    world.run('a-run');
    const core = await world.core(fakeTrainer, { inBackground: true });
    const observed = {
      ...core,
      get ready() {
        asked.resolve();
        return core.ready;
      },
    };
    const { left, right } = channelPair();
    serveChannel(observed, right);
    const studio = { open: async () => left } as unknown as Studio;
    const runs = await acrossHosts(studio, (client) => client.call('runs.list', {}));
    asked.resolve();
    expect(runs).toMatchObject([{ id: 'a-run' }]);
  });

  test('an export is repeated if the host deleted it before it was copied, and only then', async () => {
    const call = async () => {
      throw connectionLost();
    };
    const copy = (use: () => Promise<string>) =>
      withExport({ call } as unknown as Client, { exportId: '1', folder: '/gone', files: [] }, use);
    await expect(copy(async () => readFileSync('/gone/file', 'utf8'))).rejects.toMatchObject({
      code: 'connection_lost',
    });
    expect(await copy(async () => 'copied')).toBe('copied');
  });
});
