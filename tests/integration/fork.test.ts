import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandLine } from '../command-line.ts';
import { newTinyRun } from './tiny-run.ts';
import {
  keptMetrics,
  readJournal,
  root,
  sha256,
  spawnTrainer,
  temporaryHome,
  train,
} from './trainer-process.ts';

let home: string;
let dispose: () => Promise<void>;
let parent: string;
beforeAll(async () => {
  ({ home, dispose } = await temporaryHome());
  // A critic and a KL term, so that all of a trainer's state is at stake.
  parent = await newTinyRun(home, { 'kl.coefficient': 0.01, 'checkpoint.keep': 3 });
  await once(spawnTrainer(parent), 'exit');
});
afterAll(() => dispose());

async function make(...args: string[]): Promise<string> {
  const command = [commandLine, 'new', ...args, '--home', home];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root });
  return stdout.trim();
}

const config = (folder: string) => JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
const weights = (folder: string) => sha256(join(folder, 'checkpoints/000004/model.safetensors'));
const after = (folder: string, iteration: number) =>
  Object.fromEntries(
    Object.entries(keptMetrics(readJournal(folder))).filter(([key]) => Number(key.split(' ')[1]) > iteration),
  );

test('a fork that keeps the optimiser and changes nothing ends as its parent, to the bit', async () => {
  const fork = await make('--from', `${basename(parent)}@2`, '--keep-optimizer');
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

test('a fork with a new optimiser, or another setting, begins with the same weights and goes its own way', async () => {
  const fork = await make('--from', `${basename(parent)}@2`, '--set', 'optimizer.learning_rate=0.001');
  expect(await train(fork)).toBe(0);
  const start = 'checkpoints/000002/model.safetensors';
  expect(sha256(join(fork, start))).toBe(sha256(join(parent, start)));
  expect(weights(fork)).not.toBe(weights(parent));
});

test("another run's configuration alone repeats it, and a whole configuration too", async () => {
  const again = await make('--from', basename(parent));
  expect(config(again).parent).toEqual({ run: basename(parent), iteration: 0 });
  expect(await train(again)).toBe(0);
  expect(weights(again)).toBe(weights(parent));

  const path = join(home, 'whole.json');
  writeFileSync(path, JSON.stringify(config(parent)));
  expect(config(await make('--config', path, '--seed', '7'))).toEqual({ ...config(parent), seed: 7 });
});

test.each([
  [['--from', 'parent@3'], 'checkpoint_missing'],
  [['--from', 'nobody'], 'run_unknown'],
  [['--from', 'parent', '--keep-optimizer'], 'usage_invalid'],
  [['starter-bandit', '--from', 'parent'], 'usage_invalid'],
  [['--from', 'parent@4'], 'config_invalid'],
])('%j makes no run: %s', async (args, code) => {
  const named = args.map((arg) => arg.replace('parent', basename(parent)));
  await expect(make(...named)).rejects.toThrow(code);
});
