import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Channel, channelPair } from '../../core/api/channel.ts';
import { type Client, createClient } from '../../core/api/client.ts';
import type { Notice, ProcedureName } from '../../core/api/contract.ts';
import { serveChannel } from '../../core/api/server.ts';
import { openWebSocket } from '../../core/api/web-socket.ts';
import { type Host, startHost } from '../../core/host/http.ts';
import type { Core } from '../../core/index.ts';
import { World } from './fixtures/world.ts';

interface Connection {
  channel: Channel;
  close(): void;
}

const transports: Record<string, (core: Core, host: Host) => Promise<Connection>> = {
  'a WebSocket': async (_, host) => {
    const channel = await openWebSocket(host.origin, host.token);
    return { channel, close: () => channel.close() };
  },
  memory: async (core) => {
    const { left, right, close } = channelPair();
    serveChannel(core, right);
    return { channel: left, close };
  },
};

describe.each(Object.keys(transports))('the API over %s', { timeout: 60_000 }, (transport) => {
  let world: World;
  let core: Core;
  let host: Host;
  let connection: Connection;
  let client: Client;
  beforeAll(async () => {
    world = new World();
    core = await world.core();
    host = await startHost(core, world.folder, 0);
    connection = await transports[transport]!(core, host);
    client = createClient(connection.channel);
  });
  afterAll(async () => {
    connection.close();
    await host.close();
    await world.close();
  });

  test('says what there is', async () => {
    const info = await client.call('system.info', {});
    expect(info).toMatchObject({
      dataFolder: world.home,
      trainer: { build: 'fake', problem: null },
      devices: [{ id: 'cpu' }],
    });
    const presets = await client.call('presets.list', {});
    expect(presets.map((preset) => preset.id)).toContain('starter-frozen-lake-starpo-s');
    expect(presets.map((preset) => preset.id)).not.toContain('starter-warm-start');
  });

  test('trains a run while it tells of it, and replays what it did', async () => {
    const heard: {
      run: Notice<'run'>[];
      metrics: Notice<'metrics'>[];
      rollout: Notice<'rollout'>[];
      log: Notice<'log'>[];
    } = {
      run: [],
      metrics: [],
      rollout: [],
      log: [],
    };
    const completed = new Promise<void>((resolve) => {
      client.on('run', (run) => {
        heard.run.push(run);
        if (run.status === 'completed') resolve();
      });
    });
    client.on('metrics', (notice) => heard.metrics.push(notice));
    client.on('rollout', (notice) => heard.rollout.push(notice));
    client.on('log', (notice) => heard.log.push(notice));
    const { runId } = await client.call('runs.create', {
      preset: 'starter-bandit',
      set: { iterations: 3 },
      start: true,
    });
    await completed;

    const points = heard.metrics.flatMap((notice) => notice.points);
    const trained = points.filter((point) => point.metrics['rollout/success_rate'] !== undefined);
    expect(trained.map((point) => point.iteration)).toEqual([1, 2, 3]);
    expect(heard.rollout.map((notice) => notice.file.split)).toEqual(['bandit', 'train', 'train', 'train']);
    expect(heard.log.map((notice) => notice.line)).toEqual(await client.call('runs.log', { runId }));

    const { summary, config, folder } = await client.call('runs.get', { runId });
    expect(summary).toMatchObject({ status: 'completed', iteration: 3, environments: ['bandit'] });
    expect(config).toMatchObject({ iterations: 3 });
    expect(folder).toContain(runId);
    expect(await client.call('runs.list', {})).toEqual([summary]);
    const [series] = await client.call('runs.series', { runId, names: ['rollout/success_rate'], after: 1 });
    expect(series).toMatchObject({ iterations: [2, 3] });

    const [file] = await client.call('rollouts.list', { runId });
    expect(file).toMatchObject({ iteration: 0, split: 'bandit' });
    const episodes = await client.call('rollouts.episodes', { runId, iteration: 3, split: 'train' });
    const replay = await client.call('rollouts.replay', { runId, episodeId: episodes[1]!.id });
    expect(replay).toMatchObject({ summary: episodes[1], type: 'bandit', arms: ['Phoenix', 'Dragon'] });
  });

  const unknown = 'no-such-run';
  test.each<[string, unknown, string]>([
    ['runs.delete', {}, 'procedure_unknown'],
    ['toString', {}, 'procedure_unknown'],
    ['__proto__', {}, 'procedure_unknown'],
    ['system.info', undefined, 'input_invalid'],
    ['system.info', 'text', 'input_invalid'],
    ['runs.get', {}, 'input_invalid'],
    ['runs.get', { runId: '../../etc' }, 'input_invalid'],
    ['runs.get', { runId: 3 }, 'input_invalid'],
    ['runs.get', { runId: unknown }, 'run_unknown'],
    ['runs.log', { runId: unknown }, 'run_unknown'],
    ['runs.series', { runId: unknown }, 'run_unknown'],
    ['runs.series', { runId: unknown, names: 'loss' }, 'input_invalid'],
    ['runs.start', { runId: unknown }, 'run_unknown'],
    ['runs.command', { runId: unknown, command: 'stop' }, 'run_unknown'],
    ['runs.command', { runId: unknown, command: 'explode' }, 'input_invalid'],
    ['runs.create', { preset: 'none', start: false }, 'preset_unknown'],
    ['runs.create', { preset: 'starter-bandit' }, 'input_invalid'],
    ['runs.create', { preset: 'starter-bandit', start: false, set: { iterations: -1 } }, 'config_invalid'],
    ['runs.create', { preset: 'starter-bandit', start: false, set: { iterations: {} } }, 'input_invalid'],
    ['rollouts.list', { runId: unknown }, 'run_unknown'],
    ['rollouts.episodes', { runId: unknown, iteration: 1, split: 'train' }, 'run_unknown'],
    ['rollouts.replay', { runId: unknown, episodeId: '000001-train-0000' }, 'run_unknown'],
    ['rollouts.replay', { runId: unknown, episodeId: '../../x' }, 'episode_unknown'],
  ])('%s(%j) fails with %s and a hint, and changes nothing', async (name, input, code) => {
    const before = await client.call('runs.list', {});
    const call = client.call(name as ProcedureName, input as never);
    await expect(call).rejects.toMatchObject({
      code,
      message: expect.stringMatching(/./),
      hint: expect.stringMatching(/./),
    });
    expect(await client.call('runs.list', {})).toEqual(before);
  });

  test.each([
    'garbage',
    '',
    'null',
    '[]',
    '{"t":"q"}',
    '{"t":"q","i":"1","m":"$close","a":[]}',
    '{"t":"q","i":"1","m":"call","a":"runs.list"}',
    '{"t":"s","i":"1","r":{}}',
    `"${'x'.repeat(1000)}"`,
  ])('the message %j is passed over, and calls go on', async (text) => {
    const logged = world.logged.length;
    connection.channel.send(text);
    expect(await client.call('runs.list', {})).toBeInstanceOf(Array);
    expect(world.logged.length).toBe(logged);
  });

  test('an end that is not our fault is told of', async () => {
    const other = await transports[transport]!(core, host);
    const second = createClient(other.channel);
    await second.call('runs.list', {});
    const closed = new Promise<void>((resolve) => second.onClose(resolve));
    other.close();
    await closed;
    await expect(second.call('runs.list', {})).rejects.toMatchObject({ code: 'connection_lost' });
  });
});
