import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Client, connectionLost, createClient } from '../../core/contract/client.ts';
import type { ProcedureName } from '../../core/contract/contract.ts';
import { readHost } from '../../core/data-folder/host-file.ts';
import { extension, newRunFrom } from '../../core/host/commands/new.ts';
import { untilEnded } from '../../core/host/until-ended.ts';
import { type Child, starpo } from './fixtures/child.ts';
import { World } from './fixtures/world.ts';

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
    const host = await serve({ FAKE_TRAINER_VALIDATE_HOLD: world.folder });
    const command = start(args);
    await until(() => existsSync(join(world.folder, 'validating')));
    await host.kill();
    expect(await command.finished).toMatchObject({ status: 0 });
    writeFileSync(join(world.folder, 'go'), '');
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
    const host = await serve({ FAKE_TRAINER_HOLD: '2' });
    const training = start(['train', 'starter-bandit', '--set', 'iterations=4']);
    const [, id] = await training.line(/^run (\S+)$/);
    await training.line(/^iteration 2\//);
    const { pid } = JSON.parse(readFileSync(fileOf(id!, 'trainer.lock'), 'utf8'));
    process.kill(pid, 'SIGSTOP');
    const stopping = start(['stop', id!]);
    await until(() => existsSync(fileOf(id!, 'control.jsonl')));
    await host.kill();
    process.kill(pid, 'SIGCONT');
    const text = `Stopped after iteration 2 of 4; checkpoint saved. Resume it with \`starpo resume ${id}\`.`;
    expect(await stopping.finished).toEqual({ status: 0, output: text, errors: '' });
    expect(await training.finished).toMatchObject({ status: 1, output: expect.stringContaining(text) });
  });
});
