import { expect, test } from 'vitest';
import { thorough } from '../thorough.ts';
import { newRun, readJournal, temporaryHome, train } from './trainer-process.ts';

const home = temporaryHome();

/** Trains a preset and returns the solved evaluation levels before and after. Expects the first-step check to find nothing. */
async function learn(preset: string, label: string, levels: number, settings: Record<string, string | number>) {
  const folder = await newRun(home, preset, {
    ...settings,
    'evaluation.levels': levels,
    'evaluation.every': 0,
  });
  expect(await train(folder)).toBe(0);
  const events = readJournal(folder);
  const checks = events.flatMap((event) => event.checks ?? []);
  expect(checks).toHaveLength(9);
  expect(checks.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
  return events
    .filter((event) => event.type === 'evaluation')
    .map((event) => Math.round(levels * (event.metrics?.[`evaluation/${label}/success_rate`] ?? Number.NaN)));
}

/** Half the prompts per iteration, and half the mini-batch. */
const half = { 'rollout.groups': 8, 'policy_loss.mini_batch': 32 };

/** Seven iterations are the first eighth of the preset, in which the learning rate hardly decays. */
const bandit = { iterations: 7, 'optimizer.schedule': 'constant' };
const short = { ...bandit, iterations: 4, 'rollout.groups': 4, 'policy_loss.mini_batch': 16 };

type Case = [
  preset: string,
  label: string,
  levels: number,
  settings: Record<string, string | number>,
  counts: number[],
];

// The counts are exact, since the trainer is bit-identical on every x86-64 processor. Update them after an intended change of the starter policy,
// a preset or the arithmetic.
const few: Case[] = [
  ['starter-bandit-grpo-s', 'bandit', 64, short, [42, 51]],
  ['starter-bandit-starpo-s', 'bandit', 64, short, [42, 56]],
];
const all: Case[] = [
  ...few,
  ['starter-bandit-grpo-s', 'bandit', 128, bandit, [87, 118]],
  ['starter-bandit-starpo-s', 'bandit', 128, bandit, [87, 113]],
  ['starter-frozen-lake-grpo-s', 'frozen-lake', 128, { iterations: 7, ...half }, [38, 52]],
  ['starter-sokoban-grpo-s', 'sokoban', 128, { iterations: 4, ...half }, [62, 70]],
];
test.each(thorough ? all : few)(
  'a few iterations of %s improve the starter policy',
  { timeout: 600_000 },
  async (preset, label, levels, settings, counts) => {
    expect(await learn(preset, label, levels, settings)).toEqual(counts);
  },
);
