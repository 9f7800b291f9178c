import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { randomNumbers } from '../../benchmarks/bootstrap.ts';
import { killTrainer } from '../nightly/kill-trainer.ts';
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
  iterations: 6,
  'rollout.groups': 4,
  'rollout.group_size': 4,
  'evaluation.every': 2,
  'evaluation.levels': 8,
  'checkpoint.every': 2,
};
const weights = (folder: string) => sha256(join(folder, 'checkpoints/000006/model.safetensors'));

const home = temporaryHome();

test('a trainer killed at five random points and resumed is bit-identical to an uninterrupted run', {
  timeout: 300_000,
}, async () => {
  // With a full critic and a KL term, so that every part of the trainer's state matters.
  const undisturbed = await newRun(home, 'starter-frozen-lake-starpo-s', {
    ...settings,
    'kl.coefficient': 0.01,
  });
  expect(await train(undisturbed)).toBe(0);
  const events = readJournal(undisturbed).length;

  const seed = Number(process.env.STARPO_KILL_SEED ?? Date.now() % 2 ** 31);
  console.log(`kill points from STARPO_KILL_SEED=${seed}`);
  const random = randomNumbers(seed);

  const interrupted = await newRun(home, 'starter-frozen-lake-starpo-s', {
    ...settings,
    'kl.coefficient': 0.01,
  });
  for (let kill = 0; kill < 5; kill++) {
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
  expect(weights(interrupted)).toBe(weights(undisturbed));
});

test('small runs killed in any phase and resumed produce the same files', {
  timeout: 120_000,
}, async () => {
  const seed = Number(process.env.STARPO_KILL_SEED ?? Date.now() % 2 ** 31);
  console.log(`kill points from STARPO_KILL_SEED=${seed}`);
  expect(await killTrainer(10, randomNumbers(seed))).toMatchObject({ kills: 10 });
});

test('threads, slots, micro-batches and scalar kernels do not change any bit of the trained weights', {
  timeout: 300_000,
}, async () => {
  const small = {
    ...settings,
    iterations: 1,
    'rollout.groups': 2,
    'rollout.group_size': 4,
    'environments.0.max_turns': 2,
    'evaluation.levels': 1,
  };
  const trained = async (changes: Record<string, string | number>, environment = {}) => {
    const folder = await newRun(home, 'starter-frozen-lake-grpo-s', { ...small, ...changes });
    expect(await train(folder, environment)).toBe(0);
    const metrics = finalMetrics(readJournal(folder));
    expect(metrics['iteration 1']?.['actor/grad_norm']).toBeGreaterThan(0);
    return [metrics, sha256(join(folder, 'checkpoints/000001/model.safetensors'))];
  };
  const reference = await trained({ threads: 1 });
  expect(await trained({ threads: 3, 'rollout.slots': 7, 'optimizer.micro_batch_tokens': 700 })).toEqual(reference);
  expect(await trained({ threads: 2, 'rollout.slots': 1 }, { STARPO_ISA: 'scalar' })).toEqual(reference);
});
