import { cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ClosableChannel, channelPair, messageLimit } from '../../core/contract/channel.ts';
import { type Client, createClient } from '../../core/contract/client.ts';
import { confirmingCommands } from '../../core/contract/confirm-command.ts';
import type { Notice, OwnCommand, ProcedureName } from '../../core/contract/contract.ts';
import { processEnvironment } from '../../core/environments/process.ts';
import { baseConfig } from '../../core/presets/base.ts';
import { serveChannel } from '../../core/server/serve-channel.ts';
import { type Transport, transports } from './fixtures/transports.ts';
import { World } from './fixtures/world.ts';

vi.mock('electron', () => import('./fixtures/electron-ipc.ts'));

describe.each(Object.keys(transports))('the API over %s', { timeout: 60_000 }, (name) => {
  let world: World;
  let transport: Transport;
  let channel: ClosableChannel;
  let client: Client;
  const connect = async () => {
    channel = await transport.open();
    client = createClient(channel);
  };
  beforeAll(async () => {
    world = new World();
    transport = await transports[name]!(world);
    await connect();
  });
  afterAll(async () => {
    channel.close();
    await world.close();
  });

  test('lists runs, presets and system information', async () => {
    const info = await client.call('system.info', {});
    expect(info).toMatchObject({
      dataFolder: world.home,
      trainer: { build: 'fake', problem: null },
      devices: [{ id: 'cpu' }],
    });
    const presets = await client.call('presets.list', {});
    expect(presets.map((preset) => preset.id)).toContain('starter-frozen-lake-starpo-s');
    expect(presets.map((preset) => preset.id)).not.toContain('starter-warm-start');
    expect(presets.find(({ alias }) => alias === 'starter-frozen-lake-slippery')?.environments).toMatchObject([
      { type: 'frozen-lake', config: { is_slippery: true } },
    ]);
  });

  test('passes on the command to confirm, so that a client can ask about it', async () => {
    const own = { command: 'exit 3', directory: world.folder };
    const config = structuredClone(processEnvironment.preset);
    Object.assign(config.config, own);
    const start = { ...baseConfig.start, model: join(world.resources, 'starter') };
    const request = { config: { ...baseConfig, start, environments: [config] }, start: true };
    const asked: OwnCommand[] = [];
    const ask = async (command: OwnCommand) => asked.push(command) > 1;
    await expect(confirmingCommands(client, ask).call('runs.create', request)).rejects.toMatchObject({
      code: 'command_not_confirmed',
    });
    expect(asked).toEqual([own]);
  });

  test('trains a run, publishes its progress and replays its episodes', async () => {
    const received: {
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
        received.run.push(run);
        if (run.status === 'completed') resolve();
      });
    });
    client.on('metrics', (notice) => received.metrics.push(notice));
    client.on('rollout', (notice) => received.rollout.push(notice));
    client.on('log', (notice) => received.log.push(notice));
    const { runId } = await client.call('runs.create', {
      preset: 'starter-bandit',
      set: { iterations: 3 },
      start: true,
    });
    await completed;

    const points = received.metrics.flatMap((notice) => notice.points);
    const trained = points.filter((point) => point.metrics['rollout/success_rate'] !== undefined);
    expect(trained.map((point) => point.iteration)).toEqual([1, 2, 3]);
    expect(received.rollout.map((notice) => notice.file.split)).toEqual(['bandit', 'train', 'train', 'train']);
    expect(received.log.map((notice) => notice.line)).toEqual(await client.call('runs.log', { runId }));

    const { summary, config, folder } = await client.call('runs.get', { runId });
    expect(summary).toMatchObject({ status: 'completed', iteration: 3, environments: ['bandit'] });
    expect(config).toMatchObject({ iterations: 3 });
    expect(folder).toContain(runId);
    expect(await client.call('runs.list', {})).toEqual([summary]);
    const events = await client.call('runs.events', { runId, after: -1 });
    expect(events[0]).toMatchObject({ seq: 0, type: 'started', body: { build: 'fake' } });
    expect(events.filter((event) => event.type === 'iteration')).toHaveLength(3);
    expect(events.filter((event) => event.type === 'phase')).toEqual([]);
    expect(await client.call('runs.events', { runId, after: events.at(-1)!.seq })).toEqual([]);
    expect(await client.call('history.rebuild', {})).toMatchObject({ runs: 1, rollouts: 4, damaged: [] });
    expect(await client.call('runs.get', { runId })).toMatchObject({ summary });
    const [series] = await client.call('runs.series', { runId, names: ['rollout/success_rate'], after: 1 });
    expect(series).toMatchObject({ iterations: [2, 3] });

    const [file] = await client.call('rollouts.list', { runId });
    expect(file).toMatchObject({ iteration: 0, split: 'bandit' });
    const episodes = await client.call('rollouts.episodes', { runId, iteration: 3, split: 'train' });
    const replay = await client.call('rollouts.replay', { runId, episodeId: episodes[1]!.id });
    expect(replay).toMatchObject({ summary: episodes[1], type: 'bandit', arms: ['Phoenix', 'Dragon'] });
    expect(await client.call('rollouts.thoughts', { runId, iteration: 3 })).toMatchObject({
      episodes: episodes.length,
      thoughts: [{ text: 'the dragon may pay more', count: episodes.length }],
      missing: null,
    });
    expect(await client.call('echoTrap.state', { runId })).toMatchObject({ state: 'healthy', iteration: 3 });
  });

  test('queues, annotates and forks a run, and publishes each change', async () => {
    const { runId } = await client.call('runs.create', {
      preset: 'starter-bandit',
      start: false,
      queue: true,
    });
    expect(await client.call('queue.list', {})).toEqual({ runs: [runId], problem: null, working: false, reasons: {} });
    const published = new Promise<Notice<'run'>>((resolve) => {
      client.on('run', (run) => {
        if (run.id === runId && run.marks.starred) resolve(run);
      });
    });
    const marks = await client.call('runs.annotate', { runId, addTags: ['first'], starred: true });
    expect(await published).toMatchObject({ status: 'queued', queuePosition: 1, marks });
    await client.call('queue.remove', { runId });
    const { summary, folder } = await client.call('runs.get', { runId });
    expect(summary).toMatchObject({ status: 'created', queuePosition: null, marks });
    const copy = 'a-copy';
    cpSync(folder, join(dirname(folder), copy), { recursive: true });
    expect(await client.call('runs.adopt', { runId: copy })).toMatchObject({ id: copy, marks });
    expect((await client.call('runs.storage', { runId: copy })).total).toBeGreaterThan(0);
  });

  const unknown = 'no-such-run';
  test.each<[string, unknown, string]>([
    ['runs.explode', {}, 'procedure_unknown'],
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
    ['runs.events', { runId: unknown, after: -1 }, 'run_unknown'],
    ['runs.events', { runId: unknown }, 'input_invalid'],
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
    ['rollouts.level', { runId: unknown, group: 0, files: [] }, 'run_unknown'],
    ['rollouts.level', { runId: unknown, group: -1, files: [] }, 'input_invalid'],
    ['runs.create', { preset: 'starter-bandit', start: false, queue: 'yes' }, 'input_invalid'],
    ['runs.adopt', { folder: '/etc' }, 'input_invalid'],
    ['runs.adopt', { runId: '../../etc' }, 'input_invalid'],
    ['runs.adopt', { runId: unknown }, 'run_unknown'],
    ['runs.storage', { runId: unknown }, 'run_unknown'],
    ['runs.annotate', { runId: unknown, starred: true }, 'run_unknown'],
    ['runs.annotate', { runId: unknown, starred: 'yes' }, 'input_invalid'],
    ['runs.annotate', { runId: unknown, addTags: ['\n'] }, 'input_invalid'],
    ['runs.annotate', { runId: unknown, note: null }, 'input_invalid'],
    ['alerts.list', { runId: unknown }, 'run_unknown'],
    ['echoTrap.state', { runId: unknown }, 'run_unknown'],
    ['echoTrap.act', { runId: unknown, adviceId: 'pause' }, 'run_unknown'],
    ['echoTrap.act', { runId: unknown }, 'input_invalid'],
    ['rollouts.thoughts', { runId: unknown, iteration: 1 }, 'run_unknown'],
    ['alerts.answer', { runId: unknown, alertId: 'a', state: 'cleared' }, 'run_unknown'],
    ['alerts.answer', { runId: unknown, alertId: 'a', state: 'raised' }, 'input_invalid'],
    ['queue.add', { runId: unknown }, 'run_unknown'],
    ['queue.remove', { runId: unknown }, 'run_unknown'],
    ['queue.move', { runId: unknown, position: 1 }, 'run_unknown'],
    ['queue.move', { runId: unknown, position: 0 }, 'input_invalid'],
    ['evaluations.choices', { runId: unknown }, 'run_unknown'],
    ['evaluations.start', { runId: unknown, checkpoint: 1 }, 'run_unknown'],
    ['evaluations.start', { runId: unknown, checkpoint: -1 }, 'input_invalid'],
    ['evaluations.start', { runId: unknown, checkpoint: 1, name: '../x' }, 'input_invalid'],
    ['evaluations.list', { runId: unknown }, 'run_unknown'],
    ['evaluations.get', { runId: unknown, name: 'a' }, 'run_unknown'],
    ['evaluations.get', { runId: unknown, name: '../../etc' }, 'input_invalid'],
    ['evaluations.cancel', { runId: unknown, name: 'a' }, 'run_unknown'],
    ['evaluations.episodes', { runId: unknown, name: 'a' }, 'run_unknown'],
    ['evaluations.replay', { runId: unknown, name: 'a', episodeId: 'a' }, 'run_unknown'],
  ])('%s(%j) fails with %s and a hint, without changing files', async (name, input, code) => {
    const before = await client.call('runs.list', {});
    const call = client.call(name as ProcedureName, input as never);
    await expect(call).rejects.toMatchObject({
      code,
      message: expect.stringMatching(/./),
      hint: expect.stringMatching(code === 'input_invalid' ? /^Expected (an empty object|fields: [\w, ]+)\.$/ : /./),
    });
    expect(await client.call('runs.list', {})).toEqual(before);
  });

  test('an invalid value of a union is reported with all accepted forms', async () => {
    await expect(client.call('runs.create', {} as never)).rejects.toMatchObject({
      hint: 'Expected fields: id, set, name, tags, note, start, queue, startable, preset, run, checkpoint, keepOptimizer, config.',
    });
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
    '"text"',
  ])('the message %j is ignored, and calls still work', async (text) => {
    const logged = world.logged.length;
    channel.send(text);
    expect(await client.call('runs.list', {})).toBeInstanceOf(Array);
    expect(world.logged.length).toBe(logged);
  });

  test('an oversized input is rejected before it is sent', async () => {
    const call = client.call('runs.create', { preset: 'x'.repeat(messageLimit), start: false });
    await expect(call).rejects.toMatchObject({ code: 'input_too_large', hint: expect.stringMatching(/./) });
    expect(await client.call('runs.list', {})).toBeInstanceOf(Array);
  });

  test('an oversized message disconnects only its sender', async () => {
    const closed = new Promise<void>((resolve) => client.onClose(resolve));
    channel.send('x'.repeat(messageLimit + 1));
    await closed;
    await expect(client.call('runs.list', {})).rejects.toMatchObject({ code: 'connection_lost' });
    await connect();
    expect(await client.call('runs.list', {})).toBeInstanceOf(Array);
  });

  test('a client can reconnect', async () => {
    channel.close();
    await connect();
    expect(await client.call('runs.list', {})).toBeInstanceOf(Array);
  });

  test('the end of the server is published, and pending calls are answered or rejected', async () => {
    const closed = new Promise<void>((resolve) => client.onClose(resolve));
    const calls = [1, 2, 3].map(() => client.call('system.info', {}).catch((error) => error));
    await world.close();
    await closed;
    for (const answer of await Promise.all(calls))
      if (answer instanceof Error) expect(answer).toMatchObject({ code: 'connection_lost' });
      else expect(answer).toMatchObject({ dataFolder: world.home });
    await expect(client.call('runs.list', {})).rejects.toMatchObject({
      code: 'connection_lost',
      hint: expect.stringMatching(/./),
    });
  });
});

describe("Electron's IPC", () => {
  test("answers only the app's own page, and only text messages", async () => {
    const { page, ipcRenderer } = await import('./fixtures/electron-ipc.ts');
    const world = new World();
    const { open } = await transports["Electron's IPC"]!(world);
    const received: string[] = [];
    const request = (i: string) => JSON.stringify({ t: 'q', i, m: 'call', a: ['runs.list', {}] });
    const listener = (_: unknown, text: string) => void received.push(JSON.parse(text).i);
    ipcRenderer.on('starpo', listener);
    page.post(request('foreign'), { url: 'https://example.org/', parent: null });
    page.post(request('embedded'), { url: 'app://studio/', parent: page.ownFrame });
    page.post(request('gone'), null);
    page.post({ t: 'q', i: 'object', m: 'call', a: ['runs.list', {}] }, page.ownFrame);
    page.post(request('own'), page.ownFrame);
    const channel = await open();
    await createClient(channel).call('runs.list', {});
    expect(received).toHaveLength(2);
    expect(received[0]).toBe('own');
    ipcRenderer.off('starpo', listener);
    channel.close();
    await world.close();
  });
});

test('calls after shutdown fail and are not logged as errors', async () => {
  const world = new World();
  const core = await world.core();
  const { left, right } = channelPair();
  serveChannel(core, right);
  const client = createClient(left);
  await core.dispose();
  await expect(client.call('episodes.search', { text: '' })).rejects.toMatchObject({
    code: 'reader_interrupted',
  });
  expect(world.logged).toEqual([]);
  await world.close();
});

test('a service that fails to close does not keep the others open', async () => {
  const world = new World();
  const core = await world.core();
  vi.spyOn(core.games, 'close').mockRejectedValueOnce(new Error('broken'));
  await core.dispose();
  expect(world.logged).toEqual(["Can't close games: broken"]);
  await world.core();
  await world.close();
});

test('closing does not wait for pauses of the background work', async () => {
  const world = new World();
  const core = await world.core();
  const indexed = Promise.withResolvers<void>();
  vi.spyOn(core.history, 'indexEpisodes').mockImplementation(async () => {
    indexed.resolve();
    return true;
  });
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 1e7;
    return now;
  });
  core.episodeIndex.work();
  await indexed.promise;
  await core.dispose();
  clock.mockRestore();
  expect(world.logged).toEqual([]);
  await world.close();
});

test('background work does not start if the core is closed while it indexes', async () => {
  const world = new World();
  const core = await world.core(undefined, { inBackground: true, backgroundWork: true });
  const work = vi.spyOn(core.trash, 'work');
  await core.dispose();
  await core.ready;
  expect(work).not.toHaveBeenCalled();
  expect(world.logged).toEqual([]);
  await world.close();
});
