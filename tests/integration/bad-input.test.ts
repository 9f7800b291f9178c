import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configVersion } from '../../core/run-config/upgrade.ts';
import { starpoHere } from '../core/fixtures/command.ts';
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

/** A command that takes longer counts as hanging. On a busy machine a command takes seconds to start. */
const limit = 30_000;
const exampleConfig = () => JSON.parse(readFileSync(join(root, 'docs/formats/examples/run.json'), 'utf8'));

const home = temporaryHome();

interface Rejection {
  status: number | null;
  code: string | undefined;
  hint: string | undefined;
}

/** Runs a program and returns its exit status and the parts of its error message. */
async function rejection(program: string, ...args: string[]): Promise<Rejection> {
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
  return partsOf(status, errors);
}

function partsOf(status: number | null, errors: string): Rejection {
  return {
    status,
    code: /^ {2}(?:code|details): (\w+)$/m.exec(errors)?.[1],
    hint: /^ {2}hint: (.+)$/m.exec(errors)?.[1],
  };
}

async function cli(...args: string[]): Promise<Rejection> {
  const { status, errors } = await starpoHere([...args, '--home', home], process.env);
  return partsOf(status, errors);
}

function expectRejection(result: Rejection, status: number, code: string) {
  expect(result).toMatchObject({ status, code });
  expect(result.hint?.length).toBeGreaterThan(0);
}

/** Writes a run folder with this configuration, outside the app's runs. */
function runWith(name: string, config: unknown): string {
  const folder = join(home, 'manual', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'run.json'), typeof config === 'string' ? config : JSON.stringify(config));
  return folder;
}

/** Copies the starter's folder, so that a test can damage it. */
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
  ['a newer version', { version: configVersion + 1 }, 'config_version_unsupported'],
])('the trainer rejects %s and writes no files', async (name, change, code) => {
  const folder = runWith(name.replaceAll(' ', '-'), { ...exampleConfig(), ...change });
  expectRejection(await rejection(trainer, 'train', folder), 2, code);
  expect(readdirSync(folder)).toEqual(['run.json']);
  expectRejection(await rejection(trainer, 'validate', join(folder, 'run.json')), 2, code);
});

test.each([
  ['invalid JSON', '{"version": 1,', 'config_unreadable'],
  ['empty', '', 'config_unreadable'],
  ['an oversized number', '{"seed": 1e999}', 'config_unreadable'],
])('the trainer rejects a configuration that is %s', async (name, text, code) => {
  expectRejection(await rejection(trainer, 'train', runWith(name.replaceAll(' ', '-'), text)), 2, code);
});

test.each([
  ['an unknown key', ['starter-bandit', '--set', 'rollout.gruops=4'], 'config_invalid'],
  ['a mistyped value', ['starter-bandit', '--set', 'iterations=many'], 'config_invalid'],
  ['a value out of range', ['starter-bandit', '--set', 'rollout.temperature=0'], 'config_invalid'],
  ['a missing model', ['starter-bandit', '--set', 'start.model=nowhere'], 'model_missing'],
  ['an unknown preset', ['starter-bandti'], 'preset_unknown'],
  ['an unknown option', ['starter-bandit', '--sed', '5'], 'usage_invalid'],
])('the CLI rejects %s and creates no run', async (_, args, code) => {
  expectRejection(await cli('new', ...args), 2, code);
  expect(existsSync(join(home, 'runs')) ? readdirSync(join(home, 'runs')) : []).toEqual([]);
});

test.each([
  ['that is truncated', (file: string) => truncateSync(file, 100_000), 'model_file_truncated'],
  ['of another format', (file: string) => writeFileSync(file, 'not a safetensors file'), 'model_file_invalid'],
])('a model file %s fails the run with a code and leaves no checkpoint', async (name, damage, code) => {
  const model = copyOfStarter(`model-${name.replaceAll(' ', '-')}`);
  damage(join(model, 'model.safetensors'));
  const config = exampleConfig();
  config.start.model = model;
  const folder = runWith(`model-${name.replaceAll(' ', '-')}-run`, config);
  expectRejection(await rejection(trainer, 'train', folder), 1, code);
  expect(readJournal(folder).at(-1)).toMatchObject({ type: 'failed', code });
  expect(existsSync(join(folder, 'checkpoints'))).toBe(false);
});

/** Splits the starter's weights into two shards, like published models. */
function shard(model: string) {
  const file = readFileSync(join(model, 'model.safetensors'));
  const start = 8 + Number(file.readBigUInt64LE());
  const header = JSON.parse(file.toString('utf8', 8, start));
  const tensors = Object.keys(header).filter((name) => name !== '__metadata__');
  const weightMap: Record<string, string> = {};
  for (const half of [0, 1]) {
    const name = `model-0000${half + 1}-of-00002.safetensors`;
    const entries: Record<string, unknown> = {};
    const data: Buffer[] = [];
    let size = 0;
    for (const tensor of tensors.filter((_, index) => index % 2 === half)) {
      const [begin, end] = header[tensor].data_offsets;
      entries[tensor] = { ...header[tensor], data_offsets: [size, size + end - begin] };
      data.push(file.subarray(start + begin, start + end));
      size += end - begin;
      weightMap[tensor] = name;
    }
    const text = Buffer.from(JSON.stringify(entries));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(text.length));
    writeFileSync(join(model, name), Buffer.concat([length, text, ...data]));
  }
  writeFileSync(join(model, 'model.safetensors.index.json'), JSON.stringify({ weight_map: weightMap }));
  rmSync(join(model, 'model.safetensors'));
}

test('a run starts from shards, and is rejected after a shard has changed', {
  timeout: 60_000,
}, async () => {
  const model = copyOfStarter('sharded');
  shard(model);
  const small = { 'start.model': model, iterations: 1, 'rollout.groups': 2, 'evaluation.levels': 4 };
  expect(await train(await newRun(home, 'starter-bandit', small))).toBe(0);

  const changed = await newRun(home, 'starter-bandit', small);
  const second = join(model, 'model-00002-of-00002.safetensors');
  const bytes = readFileSync(second);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 4) ^ 1, bytes.length - 4);
  writeFileSync(second, bytes);
  expectRejection(await rejection(trainer, 'train', changed), 1, 'model_changed');
  expect(readJournal(changed).at(-1)).toMatchObject({ type: 'failed', code: 'model_changed' });
});

interface Tree {
  [key: string]: Tree;
}

/** Returns a function that replaces a value in a JSON file of the folder. */
const edited = (name: string, path: string, value: unknown) => (model: string) => {
  const content = JSON.parse(readFileSync(join(model, name), 'utf8'));
  const keys = path.split('/');
  const last = keys.pop() as string;
  const parent = keys.reduce<Tree>((part, key) => part[key] as Tree, content);
  Object.assign(parent, { [last]: value });
  writeFileSync(join(model, name), JSON.stringify(content));
};
const written = (name: string, text: string) => (model: string) => writeFileSync(join(model, name), text);
const tokenizer = (path: string, value: unknown) => edited('tokenizer.json', path, value);
const modelConfig = (path: string, value: unknown) => edited('config.json', path, value);
const splitRegex = (regex: string) => tokenizer('pre_tokenizer/pretokenizers/0/pattern', { Regex: regex });
const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

test.each([
  ['a tokenizer of invalid JSON', written('tokenizer.json', '{'), 'tokenizer_invalid'],
  ['an endlessly nested tokenizer', written('tokenizer.json', `{"normalizer": ${deep}}`), 'tokenizer_invalid'],
  ['a vocabulary of a wrong type', tokenizer('model/vocab', []), 'tokenizer_invalid'],
  ['a merge of unknown tokens', tokenizer('model/merges/0', ['player', 'player']), 'tokenizer_invalid'],
  ['an invalid pattern', splitRegex('(?i:'), 'tokenizer_invalid'],
  ['a pattern of another dialect', splitRegex('\\w+'), 'tokenizer_unsupported'],
  ['a pattern with endless backtracking', splitRegex('(?:[^!]+)+[\\x01\\x02]'), 'tokenizer_regex_limit'],
  ['another normalizer', tokenizer('normalizer', { type: 'NFKC' }), 'tokenizer_unsupported'],
  ['an added token with an invalid lstrip', tokenizer('added_tokens/0/lstrip', 'yes'), 'tokenizer_invalid'],
  ['another architecture', modelConfig('architectures', ['LlamaForCausalLM']), 'model_unsupported'],
  ['a quantized model', modelConfig('quantization_config', {}), 'model_unsupported'],
  ['an endlessly nested configuration', written('config.json', `{"model_type": ${deep}}`), 'model_config_invalid'],
  ['stop ids of a wrong type', written('generation_config.json', '{"eos_token_id": ["x"]}'), 'model_config_invalid'],
])('a model folder with %s fails the run with a code', async (name, damage, code) => {
  const model = copyOfStarter(name.replaceAll(' ', '-'));
  damage(model);
  const config = exampleConfig();
  config.start.model = model;
  const folder = runWith(`${name.replaceAll(' ', '-')}-run`, config);
  expectRejection(await rejection(trainer, 'train', folder), 1, code);
  expect(readJournal(folder).at(-1)).toMatchObject({ type: 'failed', code });
});

test('a journal with damaged lines is continued without losing events or leaving a gap', {
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

test('a second trainer on a running run is rejected, and the first continues', {
  timeout: 60_000,
}, async () => {
  const folder = await newRun(home, 'starter-frozen-lake', { 'evaluation.levels': 8 });
  const first: ChildProcess = startTrainer(folder);
  const ended = once(first, 'exit');
  await journalReaches(folder, first, (events) => events.some((event) => event.type === 'started'));
  expectRejection(await rejection(trainer, 'train', folder), 2, 'run_locked');
  expect(first.exitCode).toBeNull();
  first.kill('SIGTERM');
  await ended;
  expect(readJournal(folder).filter((event) => event.type === 'started')).toHaveLength(1);
  expect(readJournal(folder).at(-1)).toMatchObject({ type: 'stopped', reason: 'signal' });
});

test('an evaluation of a missing run or checkpoint is rejected, and a full disk leaves no file', {
  timeout: 60_000,
}, async () => {
  const evaluate = (...args: string[]) => rejection(trainer, 'evaluate', ...args);
  expectRejection(await evaluate(join(home, 'nowhere'), '--checkpoint', '0'), 2, 'run_missing');
  const folder = await newRun(home, 'starter-bandit', {
    iterations: 1,
    'rollout.groups': 2,
    'evaluation.levels': 16,
  });
  expectRejection(await evaluate(folder), 2, 'usage');
  expectRejection(await evaluate(folder, '--checkpoint', '-1'), 2, 'usage');
  expectRejection(await evaluate(folder, '--checkpoint', '0'), 2, 'checkpoint_missing');
  expect(await train(folder)).toBe(0);
  expectRejection(await evaluate(folder, '--checkpoint', '1', '--on', 'lake'), 2, 'environment_unknown');

  // A 4 KiB file size limit simulates a full disk. The error code depends on the system.
  const limited = `trap '' XFSZ; ulimit -f 4; exec "$0" evaluate "$1" --checkpoint 1`;
  const full = await rejection('bash', '-c', limited, trainer, folder);
  expectRejection(full, 1, full.code === 'file_unwritable' ? 'file_unwritable' : 'disk_full');
  expect(readdirSync(join(folder, 'evaluations'))).toEqual([]);
});

test('a run that does not fit into 120 MB is rejected with both figures, and with settings that would fit into 300 MB', async () => {
  const folder = await newRun(home, 'starter-sokoban', { iterations: 1 });
  const within = (megabytes: number, ...args: string[]) =>
    spawnSync('bash', ['-c', `ulimit -v ${megabytes * 1000}; exec "$0" "$@"`, trainer, ...args], { encoding: 'utf8' });
  const refused = within(120, 'train', folder);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toMatch(/^error: up to \d{3} MB of memory are needed, but only (\d\d|1[01]\d) MB are free$/m);
  expect(readJournal(folder).map(({ type, code }) => code ?? type)).toEqual(['out_of_memory']);
  expect(readdirSync(folder).sort()).toEqual(['events.jsonl', 'run.json', 'trainer.lock']);

  expect(within(300, 'train', folder).stderr).toMatch(
    /hint: set rollout.slots to \d+ and optimizer.micro_batch_tokens to \d+$/m,
  );
});

test('a busy port is reported', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  expectRejection(await cli('serve', '--port', String(port)).finally(() => server.close()), 1, 'port_busy');
});
