import { afterAll, beforeAll, expect, test } from 'vitest';
import { newRun, readJournal, temporaryHome, train } from './trainer-process.ts';

let home: string;
let dispose: () => Promise<void>;
beforeAll(async () => {
  ({ home, dispose } = await temporaryHome());
});
afterAll(() => dispose());

/** Successes on the fixed levels before and after, as counts. */
async function learn(preset: string, label: string, settings: Record<string, string | number>) {
  const levels = 128;
  const folder = await newRun(home, preset, {
    ...settings,
    'evaluation.levels': levels,
    'evaluation.every': 0,
  });
  expect(await train(folder)).toBe(0);
  return readJournal(folder)
    .filter((event) => event.type === 'evaluation')
    .map((event) => Math.round(levels * (event.metrics?.[`evaluation/${label}/success_rate`] ?? Number.NaN)));
}

/** Half the levels of an iteration, and steps of half as many episodes. */
const half = { 'rollout.groups': 8, 'policy_loss.mini_batch': 32 };

/** Ten iterations are its preset's first sixth, in which the rate hardly decays. */
const bandit = { iterations: 10, 'optimizer.schedule': 'constant' };

// The counts are exact: the trainer gives the same bits on every x86-64. Whoever changes the starter policy, a preset or the arithmetic on purpose, puts the new ones here.
test('a few iterations of StarPO-S teach the starter policy Bandit', { timeout: 600_000 }, async () => {
  expect(await learn('starter-bandit-grpo-s', 'bandit', bandit)).toEqual([87, 121]);
});

test('and so do a few with a critic', { timeout: 600_000 }, async () => {
  expect(await learn('starter-bandit-starpo-s', 'bandit', bandit)).toEqual([87, 120]);
});

test('and FrozenLake', { timeout: 600_000 }, async () => {
  expect(await learn('starter-frozen-lake-grpo-s', 'frozen-lake', { iterations: 7, ...half })).toEqual([
    38, 52,
  ]);
});

test('and Sokoban', { timeout: 600_000 }, async () => {
  expect(await learn('starter-sokoban-grpo-s', 'sokoban', { iterations: 4, ...half })).toEqual([62, 70]);
});
