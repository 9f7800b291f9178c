import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { channelPair } from '../../core/contract/channel.ts';
import { type Client, createClient } from '../../core/contract/client.ts';
import type { Task } from '../../core/contract/contract.ts';
import type { Core } from '../../core/index.ts';
import { Models } from '../../core/models/models.ts';
import { checkpointPath } from '../../core/run-directory/names.ts';
import { serveChannel } from '../../core/server/serve-channel.ts';
import { cutAt, FakeHub, refusal, wrongBytes } from './fixtures/hub.ts';
import { playableRun, starter } from './fixtures/playable.ts';
import { fakeTrainer, root, World } from './fixtures/world.ts';

const weights = 'model.safetensors';
const names = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json', weights];

describe('models', () => {
  let world: World;
  let core: Core;
  let client: Client;
  let hub: FakeHub;
  beforeAll(async () => {
    vi.stubEnv('HF_TOKEN', '');
    vi.stubEnv('HF_ENDPOINT', '');
    world = new World();
    vi.stubEnv('HF_HUB_CACHE', join(world.folder, 'cache'));
    core = await world.core(fakeTrainer, { resources: join(root, 'resources') });
    const { home, resources, runs, tasks, notices } = core;
    const quick = new Models({ home, resources, runs, tasks, notices, retryDelay: 1 });
    Object.assign(core, { models: quick });
    const { left, right } = channelPair();
    serveChannel(core, right);
    client = createClient(left);
  });
  beforeEach(async () => {
    hub = new FakeHub(Object.fromEntries(names.map((name) => [name, readFileSync(join(starter, name))])));
    await hub.start();
    await client.call('hub.set', { host: hub.host });
  });
  afterEach(() => {
    hub.close();
    rmSync(join(world.home, 'models'), { recursive: true, force: true });
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await world.close();
  });

  const folder = () => join(world.home, 'models/Tiny-Qwen');
  const partial = () => join(world.home, 'models/.someone--Tiny-Qwen.partial');
  /** Returns the downloaded bytes of the incomplete weights. */
  const downloaded = () => statSync(join(partial(), `${weights}.incomplete`), { throwIfNoEntry: false })?.size ?? 0;
  /** Compares the bytes. `toEqual` would take seconds for a model. */
  const isDownloaded = (name: string) => readFileSync(join(folder(), name)).equals(hub.files[name]!);
  const half = () => hub.files[weights]!.length >> 1;

  /** Starts the download and returns the final state of its task. */
  async function download(): Promise<Task> {
    const ended = new Promise<Task>((resolve) => {
      const stop = client.on('task', (task) => {
        if (task.kind !== 'download' || task.state === 'running') return;
        stop();
        resolve(task);
      });
    });
    await client.call('models.download', { repository: hub.repository });
    return ended;
  }

  describe('downloading', () => {
    test('shows the license first, then verifies every file', async () => {
      hub.files['README.md'] = Buffer.from('---\nlicense: apache-2.0\n---\n# Tiny');
      hub.files['pytorch_model.bin'] = Buffer.from('not needed');
      const found = await client.call('models.look', { repository: hub.repository });
      expect(found).toMatchObject({
        license: 'apache-2.0',
        licenseLink: 'https://example.com/LICENSE',
        files: names.length + 1,
        folder: folder(),
        problem: null,
      });
      await client.call('hub.set', { token: 'hf_secret' });
      const changed = new Promise((resolve) => client.on('models', resolve));
      const task = await download();
      expect(task).toMatchObject({ state: 'done', title: 'Downloading someone/Tiny-Qwen', runId: null });
      await changed;
      expect(names.filter((name) => !isDownloaded(name))).toEqual([]);
      expect(existsSync(join(folder(), 'pytorch_model.bin'))).toBe(false);
      const { models, downloads } = await client.call('models.list', {});
      expect(models.find(({ source }) => source === 'downloaded')).toMatchObject({
        name: 'Tiny-Qwen',
        repository: hub.repository,
        license: 'apache-2.0',
        architecture: 'Qwen2ForCausalLM',
        precision: 'fp32',
        problem: null,
      });
      expect(downloads).toEqual([]);
      // Only the hub receives the token.
      for (const { by, authorization } of hub.requests.slice(1))
        expect(authorization).toBe(by === 'hub' ? 'Bearer hf_secret' : null);
      const again = client.call('models.download', { repository: hub.repository });
      await expect(again).rejects.toMatchObject({ code: 'model_exists' });
      await client.call('models.delete', { name: 'Tiny-Qwen' });
      expect(existsSync(folder())).toBe(false);
    });

    test('resumes where it stopped after each dropped connection', async () => {
      hub.faults = [1000, half(), half() + 10].map((at) => cutAt(weights, at, downloaded));
      expect(await download()).toMatchObject({ state: 'done' });
      expect(isDownloaded(weights)).toBe(true);
      const [first, ...rest] = hub.ranges(weights);
      expect(first).toBe(null);
      expect(rest.length).toBeGreaterThanOrEqual(3);
      expect(rest).toContain(`bytes=${half()}-`);
    });

    test('starts again if the store ignores ranges', async () => {
      hub.faults = [cutAt(weights, half(), downloaded)];
      hub.ignoresRanges = true;
      expect(await download()).toMatchObject({ state: 'done' });
      expect(isDownloaded(weights)).toBe(true);
      expect(hub.ranges(weights)).toEqual([null, `bytes=${half()}-`, null]);
    });

    test('retries a corrupt file once, then fails', async () => {
      hub.faults = [wrongBytes(weights)];
      expect(await download()).toMatchObject({ state: 'done' });
      rmSync(folder(), { recursive: true });
      hub.faults = [wrongBytes('config.json'), wrongBytes('config.json')];
      const task = await download();
      expect(task).toMatchObject({ state: 'failed', failure: { code: 'download_corrupt' } });
      expect(task.failure!.message).toContain('config.json');
      expect(existsSync(folder())).toBe(false);
      const longer = extraBytes();
      hub.faults = [longer, longer];
      expect(await download()).toMatchObject({ failure: { code: 'download_corrupt' } });
    });

    /** Sends more bytes than the hub announced. */
    const extraBytes = () => (file: string, content: Buffer, response: { end: (b: Buffer) => void }) => {
      if (file !== weights) return false;
      response.end(Buffer.concat([content, Buffer.alloc(10)]));
      return true;
    };

    test('retries later if the hub is busy and fails if it refuses', async () => {
      const busy = refusal(weights, 429, { 'retry-after': '0' });
      hub.faults = [busy, refusal('tokenizer.json', 503), busy];
      expect(await download()).toMatchObject({ state: 'done' });
      rmSync(folder(), { recursive: true });
      hub.faults = [refusal(weights, 403)];
      expect(await download()).toMatchObject({ state: 'failed', failure: { code: 'hub_unauthorized' } });
      for (const [status, code] of [
        [401, 'hub_unauthorized'],
        [404, 'hub_not_found'],
        [429, 'hub_busy'],
        [418, 'hub_refused'],
      ] as const) {
        hub.status = status;
        const request = client.call('models.look', { repository: hub.repository });
        await expect(request).rejects.toMatchObject({ code });
      }
      hub.close();
      const unreachable = client.call('models.look', { repository: hub.repository });
      await expect(unreachable).rejects.toMatchObject({
        code: 'hub_unreachable',
        message: expect.stringMatching(/Can't reach \S+: the connection was (refused|interrupted)\.$/),
      });
    });

    test('resumes after cancellation, restarts for a new revision, and can be discarded', async () => {
      // The hub sends half of the weights, then stalls.
      hub.faults = [
        (file, content, response) => {
          if (file !== weights) return false;
          response.writeHead(200, { 'content-length': content.length });
          response.write(content.subarray(0, half()));
          return true;
        },
      ];
      const ended = download();
      await vi.waitFor(() => expect(downloaded()).toBe(half()), 30_000);
      const { id } = (await client.call('tasks.list', {})).find(({ kind }) => kind === 'download')!;
      const twice = client.call('models.download', { repository: hub.repository });
      await expect(twice).rejects.toMatchObject({ code: 'download_active' });
      const early = client.call('models.discard', { repository: hub.repository });
      await expect(early).rejects.toMatchObject({ code: 'download_active' });
      await client.call('tasks.cancel', { taskId: id });
      expect(await ended).toMatchObject({ state: 'canceled' });
      const { downloads } = await client.call('models.list', {});
      const total = Object.values(hub.files).reduce((sum, { length }) => sum + length, 0);
      expect(downloads).toMatchObject([{ repository: hub.repository, total, taskId: null }]);
      expect(downloads[0]!.done).toBeGreaterThanOrEqual(half());
      expect(await download()).toMatchObject({ state: 'done' });
      expect(hub.ranges(weights)).toEqual([null, `bytes=${half()}-`]);
      expect(isDownloaded(weights)).toBe(true);

      rmSync(folder(), { recursive: true });
      hub.faults = [refusal(weights, 403)];
      await download();
      expect(existsSync(join(partial(), 'config.json'))).toBe(true);
      // The hub has a new revision, so the files of the old revision aren't used.
      hub.amend = (answer) => Object.assign(answer, { sha: 'b'.repeat(40) });
      hub.files['config.json'] = Buffer.concat([hub.files['config.json']!, Buffer.from('\n')]);
      expect(await download()).toMatchObject({ state: 'done' });
      expect(readFileSync(join(folder(), 'config.json'))).toEqual(hub.files['config.json']);

      rmSync(folder(), { recursive: true });
      hub.faults = [refusal(weights, 403)];
      await download();
      expect(existsSync(partial())).toBe(true);
      await client.call('models.discard', { repository: hub.repository });
      expect(existsSync(partial())).toBe(false);
    });

    test('never writes outside the folder, follows an unsafe address or fills the disk', async () => {
      const secret = join(world.folder, 'evil.json');
      hub.files['../../evil.json'] = Buffer.from('{}');
      hub.files['sub/config.json'] = Buffer.from('{}');
      expect(await download()).toMatchObject({ state: 'done' });
      expect(existsSync(secret)).toBe(false);
      expect(readdirSync(folder()).sort()).toEqual([...names, 'download.json'].sort());
      rmSync(folder(), { recursive: true });

      for (const target of ['http://example.com/x', 'file:///etc/passwd', 'ftp://127.0.0.1/x']) {
        hub.redirect = () => target;
        expect(await download()).toMatchObject({ failure: { code: 'hub_refused' } });
      }
      hub.redirect = (file) => `${hub.host}/again/${file}`;
      expect(await download()).toMatchObject({ failure: { code: 'hub_refused' } });
      hub.redirect = null;

      const ask = () => client.call('models.download', { repository: hub.repository });
      hub.amend = ({ siblings }) => Object.assign((siblings as { size: number }[])[0]!, { size: 1e15 });
      await expect(ask()).rejects.toMatchObject({ code: 'disk_space_low' });
      hub.amend = (answer) => Object.assign(answer, { config: { model_type: 'llama' } });
      await expect(ask()).rejects.toMatchObject({ code: 'model_unsupported' });
      hub.amend = (answer) => Object.assign(answer, { sha: '../..' });
      await expect(ask()).rejects.toMatchObject({ code: 'hub_answer_invalid' });
      for (const repository of ['one', 'a/../b', '../a/b', 'a/.b', 'a/b/c', 'a b/c'])
        await expect(client.call('models.look', { repository })).rejects.toMatchObject({
          code: 'input_invalid',
        });
    });
  });

  test('accepts only a trustworthy hub and stores its token privately', async () => {
    for (const host of ['http://example.com', 'file:///tmp', 'https://me:pass@example.com', 'x y'])
      await expect(client.call('hub.set', { host })).rejects.toMatchObject({ code: 'hub_host_invalid' });
    const settings = await client.call('hub.set', { host: 'mirror.example.com/', token: ' hf_x ' });
    expect(settings).toEqual({ host: 'https://mirror.example.com', hasToken: true });
    const file = join(world.home, 'hub-token');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toBe('hf_x\n');
    expect(await client.call('hub.set', { host: '', token: '' })).toEqual({
      host: 'https://huggingface.co',
      hasToken: false,
    });
    expect(existsSync(file)).toBe(false);
  });

  test('an error about an invalid token does not contain it', async () => {
    await client.call('hub.set', { token: 'hf_first\nhf_second' });
    const looked = client.call('models.look', { repository: hub.repository });
    await expect(looked).rejects.toMatchObject({
      code: 'hub_token_invalid',
      message: expect.not.stringContaining('hf_'),
    });
    await client.call('hub.set', { token: '' });
  });

  test('are listed with their properties or the problem', async () => {
    const snapshot = join(world.folder, 'cache/models--Qwen--Qwen2.5-0.5B-Instruct/snapshots/abc');
    const own = join(world.folder, 'my model');
    const broken = join(world.folder, 'broken');
    for (const place of [snapshot, own, broken]) cpSync(starter, place, { recursive: true });
    truncateSync(join(broken, weights), 2_000_000);
    for (const place of [own, broken, own]) await client.call('models.add', { folder: place });
    const missing = client.call('models.add', { folder: join(world.folder, 'nothing') });
    await expect(missing).rejects.toMatchObject({ code: 'model_missing' });
    const list = async () => (await client.call('models.list', {})).models;
    const facts = { architecture: 'Qwen2ForCausalLM', parameters: 989_824, precision: 'fp32', problem: null };
    expect(await list()).toMatchObject([
      { source: 'starter', name: 'Starter policy', ...facts, trainingBytes: null },
      { source: 'added', name: 'my model', folder: own, ...facts },
      { source: 'added', name: 'broken', problem: { code: 'model_file_invalid' } },
      {
        source: 'cache',
        name: 'Qwen2.5-0.5B-Instruct',
        repository: 'Qwen/Qwen2.5-0.5B-Instruct',
        license: 'Apache 2.0',
        trainingBytes: expect.any(Number),
      },
    ]);
    await client.call('models.forget', { folder: broken });
    expect((await list()).map(({ name }) => name)).not.toContain('broken');
    expect(existsSync(broken)).toBe(true);
    await expect(client.call('models.delete', { name: 'my model' })).rejects.toMatchObject({
      code: 'model_unknown',
    });
    mkdirSync(join(world.home, 'models/half'), { recursive: true });
    writeFileSync(join(world.home, 'models/half/config.json'), '{"architectures": ["LlamaForCausalLM"]}');
    const half = (await list()).find(({ name }) => name === 'half');
    expect(half).toMatchObject({ architecture: 'LlamaForCausalLM', problem: { code: 'model_unsupported' } });
  });

  test('include the checkpoints of runs', async () => {
    const runId = await playableRun(core, 'starter-bandit', {}, [0, 20, 40]);
    const { checkpoints } = await client.call('models.list', {});
    const bytes = 3 * statSync(join(starter, weights)).size;
    const folder = join(core.runs.folder(runId), checkpointPath(40));
    expect(checkpoints).toMatchObject([{ runId, iterations: [40, 20, 0], folder, bytes }]);
  });
});
