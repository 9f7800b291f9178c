import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomNumbers } from '../../benchmarks/bootstrap.ts';
import { killTrainer } from '../nightly/kill-trainer.ts';
import {
  journalReaches,
  keptMetrics,
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
  'rollout.group_size': 8,
  'evaluation.every': 2,
  'evaluation.levels': 24,
  'checkpoint.every': 2,
};
const weights = (folder: string) => sha256(join(folder, 'checkpoints/000006/model.safetensors'));

let home: string;
let dispose: () => Promise<void>;
beforeAll(async () => {
  ({ home, dispose } = await temporaryHome());
});
afterAll(() => dispose());

test('a trainer killed at five random points and resumed ends as an uninterrupted one, to the bit', {
  timeout: 300_000,
}, async () => {
  // A full critic and a KL term, so that all of a trainer's state is at stake.
  const whole = await newRun(home, 'starter-frozen-lake-starpo-s', { ...settings, 'kl.coefficient': 0.01 });
  expect(await train(whole)).toBe(0);
  const events = readJournal(whole).length;

  const seed = Number(process.env.STARPO_KILL_SEED ?? Date.now() % 2 ** 31);
  console.log(`kill points from STARPO_KILL_SEED=${seed}`);
  const random = randomNumbers(seed);

  const broken = await newRun(home, 'starter-frozen-lake-starpo-s', { ...settings, 'kl.coefficient': 0.01 });
  for (let kill = 0; kill < 5; kill++) {
    const before = readJournal(broken).length;
    const target = before + 1 + Math.floor((random() * events) / 3);
    const child = startTrainer(broken);
    const ended = once(child, 'exit');
    // The run may be over before the point is reached; then there is nothing left to kill.
    await journalReaches(broken, child, (journal) => journal.length >= target).catch(() => undefined);
    child.kill('SIGKILL');
    await ended;
  }
  expect(await train(broken)).toBe(0);

  const journal = readJournal(broken);
  expect(journal.map((event) => event.seq)).toEqual(journal.map((_, index) => index));
  expect(journal.at(-1)).toMatchObject({ type: 'stopped', reason: 'completed' });
  expect(keptMetrics(journal)).toEqual(keptMetrics(readJournal(whole)));
  expect(weights(broken)).toBe(weights(whole));
});

test('small runs that are killed at moments of every kind end as an undisturbed one: files, journal and weights', {
  timeout: 120_000,
}, async () => {
  const seed = Number(process.env.STARPO_KILL_SEED ?? Date.now() % 2 ** 31);
  console.log(`kill points from STARPO_KILL_SEED=${seed}`);
  expect(await killTrainer(10, randomNumbers(seed))).toMatchObject({ kills: 10 });
});

test('threads, slots, micro-batches and the scalar kernels change no bit of what is trained', {
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
    const metrics = keptMetrics(readJournal(folder));
    expect(metrics['iteration 1']?.['actor/grad_norm']).toBeGreaterThan(0);
    return [metrics, sha256(join(folder, 'checkpoints/000001/model.safetensors'))];
  };
  const reference = await trained({ threads: 1 });
  expect(await trained({ threads: 3, 'rollout.slots': 7, 'optimizer.micro_batch_tokens': 700 })).toEqual(
    reference,
  );
  expect(await trained({ threads: 2, 'rollout.slots': 1 }, { STARPO_ISA: 'scalar' })).toEqual(reference);
});
