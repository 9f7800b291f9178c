import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { randomNumbers } from '../../benchmarks/bootstrap.ts';
import type { Setting } from '../../core/run-config/settings.ts';
import { killTrainer } from '../nightly/kill-trainer.ts';
import { thorough } from '../thorough.ts';
import { trainTinyPolicy } from './tiny-run.ts';
import {
  finalMetrics,
  journalReaches,
  newRun,
  readJournal,
  sha256,
  startTrainer,
  temporaryHome,
  train,
} from './trainer-process.ts';

const settings = {
  'rollout.group_size': 4,
  'kl.coefficient': 0.01,
  ...(thorough
    ? { iterations: 6, 'rollout.groups': 4, 'evaluation.every': 2, 'evaluation.levels': 8, 'checkpoint.every': 2 }
    : { iterations: 4, 'rollout.groups': 2, 'evaluation.every': 1, 'evaluation.levels': 2, 'checkpoint.every': 1 }),
};
const kills = thorough ? 5 : 2;

const home = temporaryHome();

test('a trainer killed at random points and resumed is bit-identical to an uninterrupted run', {
  timeout: 300_000,
}, async () => {
  // With a full critic and a KL term, so that every part of the trainer's state matters.
  const undisturbed = await newRun(home, 'starter-frozen-lake-starpo-s', settings);
  expect(await train(undisturbed)).toBe(0);
  const events = readJournal(undisturbed).length;

  const seed = Number(process.env.STARPO_KILL_SEED ?? Date.now() % 2 ** 31);
  console.log(`kill points from STARPO_KILL_SEED=${seed}`);
  const random = randomNumbers(seed);

  const interrupted = await newRun(home, 'starter-frozen-lake-starpo-s', settings);
  for (let kill = 0; kill < kills; kill++) {
    const before = readJournal(interrupted).length;
    const target = before + 1 + Math.floor((random() * events) / 3);
    const child = startTrainer(interrupted);
    const ended = once(child, 'exit');
    // The run may complete before it reaches the point.
    await journalReaches(interrupted, child, (journal) => journal.length >= target).catch(() => undefined);
    child.kill('SIGKILL');
    await ended;
  }
  expect(await train(interrupted)).toBe(0);

  const journal = readJournal(interrupted);
  expect(journal.map((event) => event.seq)).toEqual(journal.map((_, index) => index));
  expect(journal.at(-1)).toMatchObject({ type: 'stopped', reason: 'completed' });
  expect(finalMetrics(journal)).toEqual(finalMetrics(readJournal(undisturbed)));
  const last = `checkpoints/00000${settings.iterations}/model.safetensors`;
  expect(sha256(join(interrupted, last))).toBe(sha256(join(undisturbed, last)));
});

test('small runs killed in any phase and resumed produce the same files', {
  timeout: 120_000,
}, async () => {
  const seed = Number(process.env.STARPO_KILL_SEED ?? Date.now() % 2 ** 31);
  console.log(`kill points from STARPO_KILL_SEED=${seed}`);
  const count = thorough ? 10 : 4;
  expect(await killTrainer(count, randomNumbers(seed))).toMatchObject({ kills: count });
});

describe('the trained weights are the same to the bit', { timeout: 300_000 }, () => {
  const small = {
    iterations: 1,
    'rollout.groups': 2,
    'rollout.group_size': 4,
    'environments.0.max_turns': 2,
    'evaluation.every': 2,
    'evaluation.levels': 1,
  };
  const trained = async (changes: Record<string, Setting>, environment = {}) => {
    const folder = await newRun(home, 'starter-frozen-lake-grpo-s', { ...small, ...changes });
    expect(await train(folder, environment)).toBe(0);
    const metrics = finalMetrics(readJournal(folder));
    expect(metrics['iteration 1']?.['actor/grad_norm']).toBeGreaterThan(0);
    return [metrics, sha256(join(folder, 'checkpoints/000001/model.safetensors'))];
  };

  test('with other threads, slots and micro-batches', async () => {
    const changes = { threads: 3, 'rollout.slots': 7, 'optimizer.micro_batch_tokens': 700 };
    expect(await trained(changes)).toEqual(await trained({ threads: 1 }));
  });

  test('with scalar kernels and one slot', async () => {
    // Scalar kernels take 25 times as long.
    const model: Record<string, Setting> = thorough ? {} : { 'start.model': await trainTinyPolicy(home) };
    const scalar = await trained({ ...model, threads: 2, 'rollout.slots': 1 }, { STARPO_ISA: 'scalar' });
    expect(scalar).toEqual(await trained({ ...model, threads: 1 }));
  });
});
