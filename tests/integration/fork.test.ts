import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { starpoHere } from '../core/fixtures/command.ts';
import { newTinyRun } from './tiny-run.ts';
import { finalMetrics, readJournal, sha256, spawnTrainer, temporaryHome, train } from './trainer-process.ts';

const home = temporaryHome();
let parent: string;
beforeAll(async () => {
  // With a critic and a KL term, so that every part of the trainer's state matters.
  parent = await newTinyRun(home, { 'kl.coefficient': 0.01, 'checkpoint.keep': 3 });
  await once(spawnTrainer(parent), 'exit');
});

async function createRun(...args: string[]): Promise<string> {
  const { status, output, errors } = await starpoHere(['new', ...args, '--home', home], process.env);
  if (status !== 0) throw new Error(errors);
  return output;
}

const config = (folder: string) => JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
const weights = (folder: string) => sha256(join(folder, 'checkpoints/000004/model.safetensors'));
const after = (folder: string, iteration: number) =>
  Object.fromEntries(
    Object.entries(finalMetrics(readJournal(folder))).filter(([key]) => Number(key.split(' ')[1]) > iteration),
  );

test('a fork that keeps the optimizer and all settings is bit-identical to its parent', async () => {
  const fork = await createRun('--from', `${basename(parent)}@2`, '--keep-optimizer');
  expect(config(fork)).toMatchObject({
    start: { run: basename(parent), checkpoint: 2, keep_optimizer: true },
    parent: { run: basename(parent), iteration: 2 },
    kl: { reference: join(parent, 'checkpoints/000000') },
  });
  expect(await train(fork)).toBe(0);
  expect(weights(fork)).toBe(weights(parent));
  expect(after(fork, 2)).toEqual(after(parent, 2));
  const [first] = readJournal(fork).filter((event) => event.type === 'checkpoint');
  expect(first).toMatchObject({ iteration: 2 });
  const [started] = readJournal(fork).filter((event) => event.type === 'started');
  expect(started).toMatchObject({ resume: null, iteration: 2 });
});

test('a fork with a new optimizer and other settings starts with the same weights and diverges', async () => {
  const fork = await createRun('--from', `${basename(parent)}@2`, '--set', 'optimizer.learning_rate=0.001');
  expect(await train(fork)).toBe(0);
  const start = 'checkpoints/000002/model.safetensors';
  expect(sha256(join(fork, start))).toBe(sha256(join(parent, start)));
  expect(weights(fork)).not.toBe(weights(parent));
});

test("a run from another run's configuration or from a configuration file repeats that run", async () => {
  const repeated = await createRun('--from', basename(parent));
  expect(config(repeated).parent).toEqual({ run: basename(parent), iteration: 0 });
  expect(await train(repeated)).toBe(0);
  expect(weights(repeated)).toBe(weights(parent));

  const path = join(home, 'config.json');
  writeFileSync(path, JSON.stringify(config(parent)));
  expect(config(await createRun('--config', path, '--seed', '7'))).toEqual({ ...config(parent), seed: 7 });
});

test.each([
  [['--from', 'parent@3'], 'checkpoint_missing'],
  [['--from', 'unknown'], 'run_unknown'],
  [['--from', 'parent', '--keep-optimizer'], 'usage_invalid'],
  [['starter-bandit', '--from', 'parent'], 'usage_invalid'],
  [['--from', 'parent@4'], 'config_invalid'],
])('%j creates no run: %s', async (args, code) => {
  const resolved = args.map((arg) => arg.replace('parent', basename(parent)));
  await expect(createRun(...resolved)).rejects.toThrow(code);
});
