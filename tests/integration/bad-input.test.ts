import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  journalReaches,
  newRun,
  readJournal,
  root,
  startTrainer,
  temporaryHome,
  train,
  trainer,
} from './trainer-process.ts';

/** Within this long every bad input is refused, however busy the machine. */
const limit = 5000;
const exampleConfig = () => JSON.parse(readFileSync(join(root, 'docs/formats/examples/run.json'), 'utf8'));

let home: string;
let dispose: () => Promise<void>;
beforeAll(async () => {
  ({ home, dispose } = await temporaryHome());
});
afterAll(() => dispose());

interface Refusal {
  status: number;
  code: string | undefined;
  hint: string | undefined;
}

/** Runs a program to its end and takes apart what it says of an error. */
async function refusal(program: string, ...args: string[]): Promise<Refusal> {
  const child = spawn(program, args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: limit,
    killSignal: 'SIGKILL',
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [status] = await once(child, 'close');
  return {
    status,
    code: /^ {2}code: (\w+)$/m.exec(errors)?.[1],
    hint: /^ {2}hint: (.+)$/m.exec(errors)?.[1],
  };
}

const cli = (...args: string[]) => refusal(process.execPath, 'core/host/cli.ts', ...args, '--home', home);

function expectRefusal(seen: Refusal, status: number, code: string) {
  expect(seen).toMatchObject({ status, code });
  expect(seen.hint?.length).toBeGreaterThan(0);
}

/** A run directory with this configuration, beside the app's own. */
function runWith(name: string, config: unknown): string {
  const folder = join(home, 'by-hand', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'run.json'), typeof config === 'string' ? config : JSON.stringify(config));
  return folder;
}

/** The starter's folder, copied so that it may be damaged. */
function copyOfStarter(name: string): string {
  const folder = join(home, name);
  cpSync(join(root, 'resources/starter'), folder, { recursive: true });
  return folder;
}

test.each([
  ['an unknown key', { flter: {} }, 'config_invalid'],
  ['a missing key', { seed: undefined }, 'config_invalid'],
  ['a mistyped value', { seed: 'one' }, 'config_invalid'],
  ['a value out of range', { iterations: 0 }, 'config_invalid'],
  ['a newer version', { version: 2 }, 'config_version_unsupported'],
])('the trainer refuses %s and touches nothing', async (name, change, code) => {
  const folder = runWith(name.replaceAll(' ', '-'), { ...exampleConfig(), ...change });
  expectRefusal(await refusal(trainer, 'train', folder), 2, code);
  expect(readdirSync(folder)).toEqual(['run.json']);
  expectRefusal(await refusal(trainer, 'validate', join(folder, 'run.json')), 2, code);
});

test.each([
  ['text that is no JSON', '{"version": 1,', 'config_unreadable'],
  ['nothing', '', 'config_unreadable'],
  ['a number beyond all numbers', '{"seed": 1e999}', 'config_unreadable'],
])('the trainer refuses a configuration that is %s', async (name, text, code) => {
  expectRefusal(await refusal(trainer, 'train', runWith(name.replaceAll(' ', '-'), text)), 2, code);
});

test.each([
  ['an unknown key', ['starter-bandit', '--set', 'rollout.gruops=4'], 'config_invalid'],
  ['a mistyped value', ['starter-bandit', '--set', 'iterations=many'], 'config_invalid'],
  ['a value out of range', ['starter-bandit', '--set', 'rollout.temperature=0'], 'config_invalid'],
  ['a model that is not there', ['starter-bandit', '--set', 'start.model=nowhere'], 'model_missing'],
  ['a preset that is not there', ['starter-bandti'], 'preset_unknown'],
  ['an unknown option', ['starter-bandit', '--sed', '5'], 'usage_invalid'],
])('the command line refuses %s and makes no run', async (_, args, code) => {
  expectRefusal(await cli('new', ...args), 2, code);
  expect(existsSync(join(home, 'runs')) ? readdirSync(join(home, 'runs')) : []).toEqual([]);
});

test.each([
  ['cut short', (file: string) => truncateSync(file, 100_000), 'model_file_truncated'],
  ['of another sort', (file: string) => writeFileSync(file, 'not a safetensors file'), 'model_file_invalid'],
])('a model file %s fails the run with a code and leaves no checkpoint', async (name, damage, code) => {
  const model = copyOfStarter(`model-${name.replaceAll(' ', '-')}`);
  damage(join(model, 'model.safetensors'));
  const config = exampleConfig();
  config.start.model = model;
  const folder = runWith(`model-${name.replaceAll(' ', '-')}-run`, config);
  expectRefusal(await refusal(trainer, 'train', folder), 1, code);
  expect(readJournal(folder).at(-1)).toMatchObject({ type: 'failed', code });
  expect(existsSync(join(folder, 'checkpoints'))).toBe(false);
});

test('a journal with garbage and a cut line is gone on with: nothing whole is lost, the sequence has no gap', {
  timeout: 60_000,
}, async () => {
  const folder = await newRun(home, 'starter-bandit', {
    iterations: 2,
    'rollout.groups': 2,
    'evaluation.levels': 4,
    'checkpoint.every': 1,
  });
  expect(await train(folder)).toBe(0);
  const before = readFileSync(join(folder, 'events.jsonl'), 'utf8');
  appendFileSync(join(folder, 'events.jsonl'), 'garbage\n{"v":1,"seq":99');
  expect(await train(folder)).toBe(0);
  const after = readFileSync(join(folder, 'events.jsonl'), 'utf8');
  expect(after.startsWith(`${before}garbage\n`)).toBe(true);
  const seqs = after
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line).seq);
  expect(seqs).toEqual(seqs.map((_, index) => index));
});

test('a second trainer on a living run is refused, and the first goes on', { timeout: 60_000 }, async () => {
  const folder = await newRun(home, 'starter-frozen-lake', { 'evaluation.levels': 8 });
  const first: ChildProcess = startTrainer(folder);
  const ended = once(first, 'exit');
  await journalReaches(folder, first, (events) => events.some((event) => event.type === 'started'));
  expectRefusal(await refusal(trainer, 'train', folder), 2, 'run_locked');
  expect(first.exitCode).toBeNull();
  first.kill('SIGTERM');
  await ended;
  expect(readJournal(folder).filter((event) => event.type === 'started')).toHaveLength(1);
  expect(readJournal(folder).at(-1)).toMatchObject({ type: 'stopped', reason: 'signal' });
});

test('a busy port is refused', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  expectRefusal(await cli('serve', '--port', String(port)).finally(() => server.close()), 1, 'port_busy');
});
