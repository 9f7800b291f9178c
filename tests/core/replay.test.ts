import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { replay } from '../../core/contract/contract.ts';
import { bandit } from '../../core/environments/bandit.ts';
import { frozenLake } from '../../core/environments/frozen-lake.ts';
import { toFrames, toReplay } from '../../core/environments/replay.ts';
import { episode } from '../../core/run-directory/episode.ts';
import { type RolloutPaths, readEpisode, readEpisodes } from '../../core/run-directory/rollouts.ts';
import { readThoughts } from '../../core/run-directory/thoughts.ts';
import { float16Array, float32Array } from '../../core/run-directory/token-arrays.ts';
import { fakeRollout } from './fixtures/fake-rollout.mjs';
import { World } from './fixtures/world.ts';

describe('episodes', { timeout: 60_000 }, () => {
  let world: World;
  let folder: string;
  let paths: RolloutPaths;
  beforeEach(() => {
    world = new World();
    folder = world.run('some-run');
    mkdirSync(join(folder, 'rollouts'));
    paths = fakeRollout(folder, {}, 12, 'train', frozenLake.preset, 2, 4);
  });
  afterEach(() => world.close());
  const read = (index: number) => readEpisode(folder, paths, `000012-train-000${index}`);

  test('are listed from the index and read one by one', async () => {
    const heads = await readEpisodes(folder, paths);
    expect(heads.map((head) => head.id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((index) => `000012-train-000${index}`));
    expect(await read(6)).toMatchObject(heads[6]!);
    await expect(read(9)).rejects.toMatchObject({ code: 'episode_unknown' });
  });

  test('are counted by their first reasoning, with successes', async () => {
    expect(await readThoughts(folder, paths)).toEqual({
      episodes: 8,
      thoughts: [
        {
          text: 'player 0 goal 3 3',
          count: 8,
          // The third of each group falls into the hole.
          successes: 6,
          episodes: [0, 1, 2, 3, 4, 5, 6, 7].map((index) => `000012-train-000${index}`),
        },
      ],
      missing: null,
    });
    const file = join(folder, paths.file);
    const bytes = readFileSync(file);
    truncateSync(file, bytes.length - 4);
    await expect(readThoughts(folder, paths)).rejects.toMatchObject({ code: 'rollout_corrupt' });
    rmSync(file);
    expect(await readThoughts(folder, paths)).toMatchObject({
      episodes: 8,
      thoughts: [],
      missing: expect.stringContaining(paths.file),
    });
  });

  test('without reasoning are counted by their response, the most common first', async () => {
    const stem = join(folder, paths.file.replace('.jsonl.zst', ''));
    const responses = ['b', 'a', 'b', 'c'];
    const summary = (await readEpisodes(folder, paths))[0]!;
    const frames = responses.map((response, index) =>
      zstdCompressSync(
        JSON.stringify({ steps: [{ response, think: index === 3 ? 'thought' : null, format_valid: false }] }),
      ),
    );
    let offset = 0;
    const episodes = frames.map((frame, index) => {
      const entry = {
        ...summary,
        id: `000012-train-000${index}`,
        success: index === 0,
        offset,
        length: frame.length,
      };
      offset += frame.length;
      return entry;
    });
    writeFileSync(`${stem}.jsonl.zst`, Buffer.concat(frames));
    writeFileSync(`${stem}.index.json`, JSON.stringify({ version: 1, episodes }));
    const { thoughts } = await readThoughts(folder, paths);
    expect(thoughts.map(({ text, count, successes }) => [text, count, successes])).toEqual([
      ['b', 2, 1],
      ['a', 1, 0],
      ['thought', 1, 0],
    ]);
  });

  test('become frames: the initial state, then one per action', async () => {
    const frames = toFrames(await read(3));
    expect(frames.map((frame) => [frame.turn, frame.step, frame.action])).toEqual([
      [0, -1, null],
      [0, 0, 'Down'],
      [0, 1, 'Down'],
      [0, 2, 'Right'],
      [1, 0, 'Right'],
      [1, 1, 'Down'],
      [1, 2, 'Right'],
    ]);
    expect(frames[0]).toMatchObject({ board: 'P___\n_O__\n___O\n___G', total: 0, done: false });
    expect(frames[2]).toMatchObject({ slipped: true });
    expect(frames.at(-1)).toMatchObject({
      board: '____\n_O__\n___O\n___√',
      reward: 1,
      total: 1,
      done: true,
      success: true,
    });
  });

  test('stay in a dead end during turns without an action; older files have no dead ends', async () => {
    const episode = await read(3);
    expect(toFrames(episode).some(({ deadEnd }) => deadEnd)).toBe(false);
    const [first, second] = episode.steps;
    first!.executed.at(-1)!.dead_end = true;
    second!.executed = [];
    expect(toFrames(episode).map(({ deadEnd }) => deadEnd)).toEqual([false, false, false, true, true]);
  });

  test('become turns with the mean log-probability and entropy of their tokens', async () => {
    const result = toReplay(await read(0));
    expect(replay.parse(result)).toEqual(result);
    expect(result.turns[0]).toMatchObject({
      tokens: 2,
      logprobMean: -0.375,
      entropyMean: 0.375,
      think: 'player 0 goal 3 3',
    });
  });

  test('a turn with weighted terms adds up to its score, and false claims are found by index in the reasoning', async () => {
    const original = await read(0);
    const step = original.steps[0]!;
    const raw = step.executed.map((action, index) => ({ ...action, reward: index === 0 ? 2 : 0 }));
    const terms = { environment: 1, format: -0.25, step_cost: -0.5, length: 0 };
    const claims = { checked: 2, false: [{ start: 2, end: 4, kind: 'grounding', fact: 'The goal is at 1,2.' }] };
    const weighted = { ...step, think: '🧊 ab', executed: raw, reward: 2, penalty: -0.25, terms, claims };
    const { frames, turns } = toReplay({ ...original, steps: [weighted] });
    expect(frames[1]).toMatchObject({ reward: 2 });
    expect(frames.at(-1)!.total).toBeCloseTo(0.25);
    expect(turns[0]).toMatchObject({
      terms: [{ title: 'Step cost', value: -0.5 }],
      claims: { checked: 2, false: [{ start: 3, end: 5, fact: 'The goal is at 1,2.' }] },
    });
    expect(toReplay(original).turns[0]).toMatchObject({ terms: [], claims: null });
  });

  test('a turn without actions keeps the board and its penalty', async () => {
    const original = await read(0);
    const [first, second] = original.steps;
    const idle = {
      ...first!,
      executed: [],
      actions: [],
      penalty: -0.1,
      format_valid: false,
      think: null,
      answer: null,
    };
    const frames = toFrames({ ...original, steps: [idle, { ...second!, penalty: -0.1 }] });
    expect(frames.map((frame) => frame.total)).toEqual([0, -0.1, -0.1, -0.1, 0.8]);
    expect(frames[1]).toMatchObject({ turn: 0, step: -1, action: null, board: original.initial });
  });

  test('reads Bandit episodes, which have arms and no board', async () => {
    const pulls = fakeRollout(folder, {}, 1, 'bandit', bandit.preset, 1, 2);
    const result = toReplay(await readEpisode(folder, pulls, '000001-bandit-0001'));
    expect(result.arms).toEqual(['Phoenix', 'Dragon']);
    expect(result.frames).toMatchObject([{ board: null }, { board: null, action: 'Dragon', reward: 1, total: 1 }]);
  });

  test('shows the recorded states of an unknown environment', async () => {
    const original = await read(0);
    const [first] = original.steps[0]!.executed;
    Object.assign(first!, { found_a_key: true, lost_a_key: false, steps_left: 3 });
    const unknown = episode.parse({ ...original, type: 'maze', ended: 'asleep', initial: 'a maze' });
    const result = toReplay(unknown);
    expect(replay.parse(result)).toMatchObject({ type: 'maze', summary: { ended: 'asleep' } });
    expect(result.frames.map(({ facts }) => facts).slice(0, 3)).toEqual([[], ['found_a_key'], []]);
    expect(result.frames.map(({ board }) => board)).toEqual([
      'a maze',
      ...original.steps.flatMap(({ executed }) => executed.map(({ board }) => board)),
    ]);
  });

  test.each(['file', 'index'] as const)('reports a damaged or missing %s', async (which) => {
    const path = join(folder, paths[which]);
    truncateSync(path, readFileSync(path).length - 10);
    await expect(read(7)).rejects.toMatchObject({ code: 'rollout_corrupt' });
    await expect(
      readEpisode(folder, { ...paths, [which]: 'rollouts/none' }, '000012-train-0000'),
    ).rejects.toMatchObject({
      code: 'rollout_missing',
    });
    const outside = { ...paths, [which]: '../other/file' };
    await expect(readEpisode(folder, outside, '000012-train-0000')).rejects.toMatchObject({
      code: 'rollout_corrupt',
    });
  });

  test('rejects invalid episodes, and an index with overlapping frames', async () => {
    expect(episode.safeParse({ ...(await read(0)), steps: [{}] }).success).toBe(false);
    const path = join(folder, paths.index);
    const index = JSON.parse(readFileSync(path, 'utf8'));
    for (const episodes of [{}, [index.episodes[0], index.episodes[0]], index.episodes.toReversed()]) {
      writeFileSync(path, JSON.stringify({ ...index, episodes }));
      await expect(read(0)).rejects.toMatchObject({ code: 'rollout_corrupt' });
    }
  });
});

test('token arrays are little-endian', () => {
  expect(float32Array('AACAPwAAAMA=')).toEqual([1, -2]);
  expect(float16Array(Buffer.from([0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0x00, 0x7c]).toString('base64'))).toEqual([
    1,
    -2,
    2 ** -24,
    Number.POSITIVE_INFINITY,
  ]);
});
