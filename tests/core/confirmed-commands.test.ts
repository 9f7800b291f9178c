import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Client } from '../../core/contract/client.ts';
import { confirmingCommands, visibleText } from '../../core/contract/confirm-command.ts';
import { Failure } from '../../core/contract/failure.ts';
import { processEnvironment } from '../../core/environments/process.ts';
import { allowCommand } from '../../core/host/commands/env.ts';
import { train } from '../../core/host/commands/train.ts';
import { commandOf } from '../../core/own-environments/program.ts';
import { baseConfig } from '../../core/presets/base.ts';
import { previewConfig } from '../../core/runs/preview-config.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { ConfirmedCommands, commandDigest } from '../../core/trainer/confirmed-commands.ts';
import { Trainer } from '../../core/trainer/trainer.ts';
import { fakeTrainer, World } from './fixtures/world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await world.close();
});

const own = { command: 'python3 maze.py', directory: '/work' };
const configOf = (command: string) => ({
  ...baseConfig,
  start: { ...baseConfig.start, model: join(world.resources, 'starter') },
  environments: [{ ...processEnvironment.preset, config: { ...processEnvironment.preset.config, ...own, command } }],
});
const refused = (command: string) =>
  expect.objectContaining({ code: 'command_not_confirmed', unconfirmed: { ...own, command } });

test('consent belongs to the data folder, covers one command in one folder, and is kept', async () => {
  const commands = new ConfirmedCommands(world.home);
  expect(() => commands.require(configOf(own.command))).toThrow(refused(own.command));
  await allowCommand(own.command, { home: world.home, directory: own.directory });
  commands.confirm(own);
  commands.require(configOf(own.command));
  expect(() => commands.require(configOf('python3 maze.py --hard'))).toThrow(refused('python3 maze.py --hard'));
  expect(new ConfirmedCommands(world.home).digests()).toEqual([commandDigest(own)]);
  expect(commandDigest({ ...own, directory: '/tmp' })).not.toBe(commandDigest(own));
  const other = new World();
  expect(new ConfirmedCommands(other.home).digests()).toEqual([]);
});

test('a changed or invalid file confirms nothing that was not confirmed', () => {
  const commands = new ConfirmedCommands(world.home);
  commands.confirm(own);
  const path = join(world.home, 'commands.json');
  const digest = commandDigest(own);
  // The digest is computed again from the command, so it can't be claimed for another one.
  writeFileSync(path, readFileSync(path, 'utf8').replace('maze.py', 'other.py'));
  expect(commands.digests()).not.toContain(digest);
  writeFileSync(path, '{"version":1,"commands":[{}]}');
  expect(commands.digests()).toEqual([]);
});

test('a run with an unconfirmed command is neither created with start nor started, also after it was copied', async () => {
  const core = await world.core();
  const create = (start: boolean) => core.runs.create({ config: configOf(own.command) } as never, 'own-program', start);
  await expect(create(true)).rejects.toThrow(refused(own.command));
  expect(existsSync(join(world.home, 'runs/own-program'))).toBe(false);
  await create(false);
  await expect(core.runs.start('own-program')).rejects.toThrow(refused(own.command));
  expect(() => core.queue.add('own-program')).toThrow(refused(own.command));

  const other = new World();
  cpSync(join(world.home, 'runs'), join(other.home, 'runs'), { recursive: true });
  new ConfirmedCommands(world.home).confirm(own);
  expect(core.runs.requireStartable('own-program').environments[0]?.type).toBe('process');
  const elsewhere = await other.core();
  await expect(elsewhere.runs.start('own-program')).rejects.toThrow(refused(own.command));
  await other.close();
});

test('`starpo train` without a terminal creates no run without consent', async () => {
  vi.stubEnv('STARPO_TRAINER', fakeTrainer);
  const source = { config: configOf(own.command) as never };
  const options = { home: world.home, source, set: {}, marks: {}, json: true, queue: false };
  await expect(train(options)).rejects.toThrow(refused(own.command));
  expect(readdirSync(join(world.home, 'runs'))).toEqual([]);
});

test('a bundle, a configuration, a sweep and an evaluation bring no consent', async () => {
  const core = await world.core();
  new ConfirmedCommands(world.home).confirm(own);
  await core.runs.create({ config: configOf(own.command) } as never, 'own-program', false);
  const { folder } = await createHandlers(core)['bundles.export']({
    ...{ runId: 'own-program', checkpoints: 'none', episodes: 'none' },
  });
  const [bundle] = readdirSync(folder);
  const other = new World();
  const elsewhere = await other.core();
  const call = createHandlers(elsewhere);
  const { file, path } = await call['uploads.begin']({});
  cpSync(join(folder, bundle!), path);
  const { runId } = await call['imports.run']({ uploads: [{ file, name: 'run.zip' }], key: 'run.zip' });
  await expect(elsewhere.runs.start(runId)).rejects.toThrow(refused(own.command));
  const source = { run: runId };
  await expect(elsewhere.runs.create(source, 'copy', true)).rejects.toThrow(refused(own.command));
  const text = { config: configOf(own.command) } as never;
  await expect(elsewhere.runs.create(text, 'text', true)).rejects.toThrow(refused(own.command));
  const sweep = (set: Record<string, string>) => ({
    ...{ name: 'shared', base: source, points: [{ name: 'a', set }], seeds: [1], start: true },
  });
  await expect(elsewhere.studies.create(sweep({}))).rejects.toThrow(refused(own.command));
  const otherCommand = { 'environments.0.config.command': 'python3 other.py' };
  await expect(elsewhere.studies.create(sweep(otherCommand))).rejects.toThrow(refused('python3 other.py'));
  // The request can be repeated after consent, because it has created nothing.
  expect(elsewhere.studies.list()).toEqual([]);
  await expect(elsewhere.evaluations.start(runId, { checkpoint: 0 })).rejects.toThrow(refused(own.command));
  expect(new ConfirmedCommands(other.home).digests()).toEqual([]);
  await other.close();
});

test('the address of a server needs consent, too', () => {
  const commands = new ConfirmedCommands(world.home);
  const command = commandOf('http://127.0.0.1:8000');
  expect(() => commands.require(configOf(command))).toThrow(refused('starpo-openenv http://127.0.0.1:8000'));
  commands.confirm({ ...own, command });
  commands.require(configOf(command));
  const other = commandOf('http://127.0.0.1:8001');
  expect(() => commands.require(configOf(other))).toThrow(refused(other));
});

test('a reward program needs consent in training and in evaluations', async () => {
  const core = await world.core();
  const program = { ...baseConfig.reward.program, ...own, command: 'python3 judge.py' };
  const config = { ...configOf(own.command), reward: { ...baseConfig.reward, program } };
  await core.runs.create({ config } as never, 'scored', false);
  new ConfirmedCommands(world.home).confirm(own);
  await expect(core.runs.start('scored')).rejects.toThrow(refused(program.command));
  await expect(core.evaluations.start('scored', { checkpoint: 0 })).rejects.toThrow(refused(program.command));
  new ConfirmedCommands(world.home).confirm(program);
  new ConfirmedCommands(world.home).require(config);
});

test('a client asks once, confirms and repeats the request with its task id; a refusal is the error', async () => {
  const calls: string[] = [];
  let confirmed = false;
  const client = {
    call: async (name: string, _input: unknown, taskId?: string) => {
      calls.push(taskId ? `${name} as ${taskId}` : name);
      if (name === 'commands.confirm') confirmed = true;
      else if (!confirmed) throw new Failure('command_not_confirmed', 'It was not confirmed.', 'Confirm it.', own);
      return {};
    },
  } as unknown as Client;
  await expect(confirmingCommands(client, async () => false).call('runs.start', { runId: 'a' })).rejects.toThrow(
    'It was not confirmed.',
  );
  expect(calls.splice(0)).toEqual(['runs.start']);
  await confirmingCommands(client, async (asked) => asked === own).call('runs.start', { runId: 'a' }, 'task');
  expect(calls).toEqual(['runs.start as task', 'commands.confirm', 'runs.start as task']);
});

test('the preview of an unconfirmed command names the command to confirm', async () => {
  const problem = { code: 'command_not_confirmed', message: 'It was not confirmed.', hint: 'Confirm it.' };
  const prompts = [{ label: 'program', type: 'process', samples: [], problem }];
  const trainer = { preview: async () => ({ prompts, memory: { plan: null, problem: null } }) };
  const { home, resources } = world;
  const preview = await previewConfig(
    { home, resources, trainer } as never,
    { config: configOf(own.command) } as never,
  );
  expect(preview.environments[0]!.problem).toEqual({ ...problem, unconfirmed: own });
});

test('hidden characters of a command are visible in the question', () => {
  expect(visibleText('ls \u202E; rm\u001b[2K\u200b -r\n~')).toBe('ls \\u{202e}; rm\\u{1b}[2K\\u{200b} -r\n~');
});

test('a trainer without a data folder may start no command', () => {
  expect(new Trainer([fakeTrainer]).confirmed).toBeNull();
});
