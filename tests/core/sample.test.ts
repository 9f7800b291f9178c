import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { channelPair } from '../../core/contract/channel.ts';
import { type Client, createClient } from '../../core/contract/client.ts';
import { type ProcedureName, procedures, sampleRunId } from '../../core/contract/contract.ts';
import type { Core } from '../../core/index.ts';
import { serveChannel } from '../../core/server/serve-channel.ts';
import { installSample, sampleOf } from './fixtures/sample.ts';
import { root, World } from './fixtures/world.ts';

const runId = sampleRunId;

describe('the sample run', { timeout: 60_000 }, () => {
  let world: World;
  let core: Core;
  let client: Client;
  let small: Buffer;
  beforeAll(async () => {
    small = await sampleOf(4);
  });
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.close());
  const bundle = () => join(world.resources, 'sample.starpo.zip');
  const unpacked = () => readdirSync(join(world.home, 'sample'));

  async function open(): Promise<void> {
    core = await world.core();
    const { left, right } = channelPair();
    serveChannel(core, right);
    client = createClient(left);
  }

  test('can be read like any run, is not listed, and is unpacked once', async () => {
    installSample(world, small);
    await open();
    expect(existsSync(join(world.home, 'sample'))).toBe(false);
    const sample = await client.call('sample.get', {});
    expect(sample).toMatchObject({
      summary: { id: runId, name: 'Sample run: FrozenLake', status: 'completed', iteration: 4 },
    });
    expect((await client.call('runs.get', { runId })).summary).toEqual(sample?.summary);
    const files = await client.call('rollouts.list', { runId });
    expect(files.length).toBeGreaterThan(2);
    const boards = await client.call('rollouts.boards', { runId, ...files[0]!, evaluation: null });
    const [first] = boards.episodes;
    const replay = await client.call('rollouts.replay', { runId, episodeId: first!.summary.id });
    expect(replay.frames.length).toBe(first!.boards.length);
    expect((await client.call('runs.series', { runId })).length).toBeGreaterThan(5);

    expect(await client.call('runs.list', {})).toEqual([]);
    expect((await client.call('runs.sizes', {})).runs).toEqual([]);
    expect((await client.call('episodes.search', { text: '' })).indexed).toBe(0);

    const [folder] = unpacked();
    const before = statSync(join(world.home, 'sample', folder!, 'runs', runId)).ino;
    await world.end();
    await open();
    expect(await client.call('sample.get', {})).toEqual(sample);
    expect(statSync(join(world.home, 'sample', folder!, 'runs', runId)).ino).toBe(before);

    // Another version of the app may ship another sample.
    await world.end();
    installSample(world, await sampleOf(2));
    await open();
    expect((await client.call('sample.get', {}))?.summary.iterations).toBe(2);
    expect(unpacked()).not.toContain(folder);
    expect(unpacked()).toHaveLength(1);
  });

  test('is read-only', async () => {
    installSample(world, small);
    await open();
    const inputs: Partial<Record<ProcedureName, object>> = {
      'runs.annotate': { runId, starred: true },
      'runs.start': { runId },
      'bundles.export': { runId, checkpoints: 'all', episodes: 'all' },
    };
    for (const [name, input] of Object.entries(inputs)) {
      const procedure = procedures[name as ProcedureName];
      expect('changes' in procedure || 'ownRuns' in procedure).toBe(true);
      await expect(client.call(name as 'runs.start', input as { runId: string })).rejects.toMatchObject({
        code: 'sample_read_only',
      });
    }
    await expect(client.call('runs.create', { run: runId, start: false })).rejects.toMatchObject({
      code: 'run_unknown',
    });
    expect(await client.call('runs.delete', { runIds: [runId] })).toMatchObject({ deleted: [] });
  });

  test('is hidden if it is missing or damaged, and opening it reports the reason', async () => {
    await open();
    expect(await client.call('sample.get', {})).toBeNull();
    await expect(client.call('runs.get', { runId })).rejects.toMatchObject({ code: 'run_unknown' });
    writeFileSync(bundle(), 'no zip');
    expect(await client.call('sample.get', {})).toBeNull();
    expect(world.logged.join()).toMatch(/Can't open the sample run: Not a valid run bundle/);
    await expect(client.call('runs.get', { runId })).rejects.toMatchObject({ code: 'bundle_invalid' });
  });

  test('the shipped sample is small, names its build, and contains every listed episode', async () => {
    installSample(world, readFileSync(join(root, 'resources/sample.starpo.zip')));
    expect(statSync(bundle()).size).toBeLessThan(1.5e6);
    await open();
    const sample = await client.call('sample.get', {});
    expect(sample).toMatchObject({
      summary: {
        ...{ preset: 'starter-frozen-lake-starpo-s', status: 'completed', iteration: 120 },
        machine: { build: expect.stringMatching(/^[0-9a-f]{7}/) },
      },
    });
    const { config } = await client.call('runs.get', { runId });
    expect(JSON.stringify(config)).not.toMatch(/"\/[^"]/);
    const files = await client.call('rollouts.list', { runId });
    for (const { iteration, split } of files)
      expect((await client.call('rollouts.episodes', { runId, iteration, split })).length).toBeGreaterThan(0);
    const tokens = { runId, evaluation: null, episodeId: '000120-train-0000' };
    expect((await client.call('rollouts.tokens', tokens)).turns[0]?.texts?.join('')).toMatch(/<answer>/);
    const evaluated = files.filter(({ split }) => split === 'frozen-lake').map(({ iteration }) => iteration);
    expect([evaluated[0], evaluated.at(-1)]).toEqual([0, 120]);
  });
});
