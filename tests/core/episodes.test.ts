import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { episodeTokens, rolloutBoards } from '../../core/contract/contract.ts';
import { bandit } from '../../core/environments/bandit.ts';
import { frozenLake } from '../../core/environments/frozen-lake.ts';
import { EpisodeReader } from '../../core/episodes/reader.ts';
import { textsOf } from '../../core/episodes/vocabulary.ts';
import type { RolloutPaths } from '../../core/run-directory/rollouts.ts';
import { fakeRollout } from './fixtures/fake-rollout.mjs';
import { World } from './fixtures/world.ts';

let world: World;
let folder: string;
let paths: RolloutPaths;
let reader: EpisodeReader;
beforeAll(() => {
  world = new World();
  folder = world.run('some-run');
  mkdirSync(join(folder, 'rollouts'));
  paths = fakeRollout(folder, {}, 12, 'train', frozenLake.preset, 2, 4);
  reader = new EpisodeReader();
});
afterAll(async () => {
  await reader.close();
  await world.close();
});

test('a file is read as boards, each board once', async () => {
  const { boards, episodes } = await reader.call('boards', { folder, paths });
  expect(rolloutBoards.parse({ iteration: 12, split: 'train', boards, episodes })).toBeTruthy();
  expect(new Set(boards).size).toBe(boards.length);
  expect(episodes.map(({ summary }) => [summary.group, summary.member])).toEqual(
    [0, 1].flatMap((group) => [0, 1, 2, 3].map((member) => [group, member])),
  );
  const solved = episodes[3]!;
  expect(solved.boards.map((place) => boards[place])).toMatchObject({
    0: 'P___\n_O__\n___O\n___G',
    6: '____\n_O__\n___O\n___√',
  });
  expect(solved.actions).toEqual([null, 'Down', 'Down', 'Right', 'Right', 'Down', 'Right']);
  expect(solved.slipped).toEqual([2]);
  expect(solved.thought).toBe('player 0 goal 3 3');
  expect(
    (await reader.call('boards', { folder, paths, group: 1 })).episodes.map(({ summary }) => summary.group),
  ).toEqual([1, 1, 1, 1]);
});

test('Bandit episodes have arms and no boards', async () => {
  const pulls = fakeRollout(folder, {}, 1, 'bandit', bandit.preset, 1, 2);
  const { boards, episodes } = await reader.call('boards', { folder, paths: pulls });
  expect(boards).toEqual([]);
  expect(episodes[1]).toMatchObject({ boards: [-1, -1], actions: [null, 'Dragon'], rewards: [0, 1] });
});

test('tokens have the recorded values, and texts if the checkpoint has a tokenizer', async () => {
  const read = () => reader.call('tokens', { folder, paths, episodeId: '000012-train-0000' });
  const without = await read();
  expect(episodeTokens.parse(without)).toEqual(without);
  expect(without.turns[0]).toEqual({
    texts: null,
    logprobs: [-0.5, -0.25],
    entropies: [0.5, 0.25],
    advantages: null,
    values: null,
  });
  mkdirSync(join(folder, 'checkpoints/000000'), { recursive: true });
  const vocab = { '!': 0, go: 1, Ġleft: 2 };
  writeFileSync(join(folder, 'checkpoints/000000/tokenizer.json'), JSON.stringify({ model: { vocab } }));
  expect((await read()).turns[0]!.texts).toEqual(['go', ' left']);
});

test('a character of several tokens belongs to the last of them', () => {
  const bytes = new TextEncoder().encode('é√');
  const vocabulary = new Map([
    [0, bytes.slice(0, 1)],
    [1, bytes.slice(1, 3)],
    [2, bytes.slice(3)],
  ]);
  expect(textsOf(vocabulary, [0, 1, 2, 9])).toEqual(['', 'é', '√', '']);
});

test('missing and damaged episodes are reported, and the reader continues', async () => {
  await expect(reader.call('tokens', { folder, paths, episodeId: 'nothing' })).rejects.toMatchObject({
    code: 'episode_unknown',
  });
  await expect(reader.call('boards', { folder, paths: { ...paths, file: '../outside' } })).rejects.toMatchObject({
    code: 'rollout_corrupt',
  });
  const missing = fakeRollout(folder, {}, 13, 'train', frozenLake.preset, 1, 2);
  rmSync(join(folder, missing.file));
  await expect(reader.call('boards', { folder, paths: missing })).rejects.toMatchObject({
    code: 'rollout_missing',
  });
  expect((await reader.call('boards', { folder, paths })).episodes).toHaveLength(8);
});
