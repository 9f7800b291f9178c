import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../core/contract/client.ts';
import type { ClientKey } from '../../core/contract/handshake.ts';
import { openWebSocket } from '../../core/contract/web-socket.ts';
import { openDatabase } from '../../core/history/database.ts';
import { commandLine } from '../command-line.ts';
import { starpo } from './fixtures/child.ts';
import { starpoHere } from './fixtures/command.ts';
import * as journal from './fixtures/journal.ts';
import { openApiOf, signIn } from './fixtures/sign-in.ts';
import { World } from './fixtures/world.ts';

describe('starpo', { timeout: 300_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.close());
  const run = (...args: string[]) => starpoHere(args, world.environment());
  const runFolders = () => readdirSync(join(world.home, 'runs'));

  test('new creates a run directory and prints only its path; runs and show list it', async () => {
    const made = await run(
      'new',
      'starter-bandit',
      '--set',
      'iterations=7',
      '--set',
      'rollout.groups=4',
      '--set',
      'seed=5',
      '--seed',
      '5',
    );
    expect(made).toMatchObject({ status: 0, errors: '' });
    const config = JSON.parse(readFileSync(join(made.output, 'run.json'), 'utf8'));
    expect(config).toMatchObject({
      preset: 'starter-bandit-starpo-s',
      iterations: 7,
      seed: 5,
      rollout: { groups: 4 },
    });
    expect(existsSync(join(made.output, 'events.jsonl'))).toBe(false);

    // An exported configuration names the model of its preset, which is not a path.
    const exported = join(world.folder, 'run.json');
    writeFileSync(exported, JSON.stringify({ ...config, start: { ...config.start, model: 'starter' } }));
    const [id] = runFolders();
    const copied = await run('new', '--config', exported);
    expect(copied).toMatchObject({ status: 0, errors: '' });
    const copy = JSON.parse(readFileSync(join(copied.output, 'run.json'), 'utf8'));
    expect(copy.start.model).toBe(join(world.resources, 'starter'));
    rmSync(copied.output, { recursive: true });
    const listed = await run('runs', '--json');
    expect(JSON.parse(listed.output)).toMatchObject([{ id, status: 'created', iterations: 7 }]);
    expect((await run('runs')).output).toContain(id!);
    const shown = await run('show', id!, '--json');
    expect(JSON.parse(shown.output)).toMatchObject({ summary: { id }, config, folder: made.output });
    expect(await run('show', id!)).toMatchObject({ status: 0, output: expect.stringContaining('created') });
  });

  test('--home sets the data folder', async () => {
    const elsewhere = join(world.folder, 'elsewhere');
    const { output } = await run('new', 'starter-frozen-lake', '--home', elsewhere);
    expect(output.startsWith(elsewhere)).toBe(true);
    expect(runFolders()).toEqual([]);
  });

  test('train --on prints the script, and creates and submits the run only if its job can run', async () => {
    const programs = join(world.folder, 'bin');
    mkdirSync(programs);
    const refuse = "echo 'sbatch: error: Batch job submission failed: Invalid partition' >&2; exit 1";
    const start = "echo 'sbatch: Job 1 to start at 2026-11-26T12:26:33 using 1 processors on nodes n1' >&2";
    const sbatch = `#!/bin/sh\ncd ${programs}\ncase "$*" in *--test-only*) cat >/dev/null; if [ -e accepted ]; then ${start}; else ${refuse}; fi;; *) echo 7;; esac\n`;
    writeFileSync(join(programs, 'sbatch'), sbatch, { mode: 0o700 });
    writeFileSync(join(programs, 'squeue'), '#!/bin/sh\n', { mode: 0o700 });
    const targets = { slurm: { type: 'slurm', time: '4:00:00', partition: 'gpu' } };
    writeFileSync(join(world.home, 'targets.json'), JSON.stringify({ version: 1, targets }));
    const path = { PATH: `${programs}:${process.env.PATH}` };
    const train = () => starpoHere(['train', 'starter-bandit', '--on', 'slurm'], world.environment(path));
    const refused = await train();
    expect(refused).toMatchObject({ status: 1, errors: expect.stringContaining('Invalid partition') });
    expect(refused.output).toContain('#SBATCH --partition=gpu');
    expect(existsSync(join(world.home, 'runs')) ? runFolders() : []).toEqual([]);
    writeFileSync(join(programs, 'accepted'), '');
    const { status, output } = await train();
    expect(status).toBe(0);
    const [id] = runFolders();
    expect(output).toMatch(
      /1 job with at most 4 GPU hours per attempt.*\nA job could start at 2026-11-26 12:26:33 on n1/,
    );
    expect(output).toContain(`submitted ${id} to slurm as job 7`);
    const script = readFileSync(join(world.home, 'runs', id!, 'slurm.sh'), 'utf8');
    expect(output.startsWith(script.trimEnd())).toBe(true);
  });

  test('train follows a run to its end, as text and as JSON lines', async () => {
    const args = ['train', 'starter-bandit', '--set', 'iterations=2', '--set', 'rollout.groups=1'];
    const shown = await run(...args);
    expect(shown).toMatchObject({ status: 0, errors: '' });
    expect(shown.output).toMatch(/evaluation at iteration 0[\s\S]*iteration 1\/2[\s\S]*iteration 2\/2[\s\S]*completed/);
    const lines = (await run(...args, '--json')).output.split('\n').map((line) => JSON.parse(line));
    expect(lines.map((line) => line.type)).toEqual([
      'created',
      'started',
      'evaluation',
      'checkpoint',
      'iteration',
      'iteration',
      'stopped',
      'ended',
    ]);
    expect(lines.at(-1)).toMatchObject({ status: 'completed', iteration: 2 });
  });

  test('train and show pass on log messages of a newer trainer unchanged', async () => {
    const environment = world.environment({ FAKE_TRAINER_EVENT: '{"type":"weather","sunny":true}' });
    const args = ['train', 'starter-bandit', '--set', 'iterations=1', '--set', 'rollout.groups=1'];
    const train = (...more: string[]) => starpoHere([...args, ...more], environment);
    const lines = (await train('--json')).output.split('\n').map((line) => JSON.parse(line));
    expect(lines.find(({ type }) => type === 'weather')).toMatchObject({ sunny: true });
    expect((await train()).output).toContain('weather: {"sunny":true}');
    expect((await run('show', runFolders()[0]!)).output).toMatch(/info +weather: \{"sunny":true\}/);
  });

  test('train prints failed first-step checks, and show prints all', async () => {
    const { type, iteration, checks } = JSON.parse(journal.firstStepCheck(0, 1));
    const environment = world.environment({ FAKE_TRAINER_EVENT: JSON.stringify({ type, iteration, checks }) });
    const args = ['train', 'starter-bandit', '--set', 'iterations=1', '--set', 'rollout.groups=1'];
    const { output } = await starpoHere(args, environment);
    const wrong =
      'Truncated responses 100 % (usual: up to 20 %). The actions are lost. Change rollout.max_response_tokens.';
    expect(output).toContain(`\nfirst-step check: 1 wrong\n  wrong: ${wrong}\n`);
    expect(output).not.toContain('Gradient norm');
    expect((await run('show', runFolders()[0]!)).output).toContain(
      `\nfirst-step check of iteration 1: 1 wrong\n  ok          Gradient norm 0.36 (usual: up to 1000). The loss has a gradient.\n  wrong       ${wrong}\n`,
    );
  });

  test('pin keeps a checkpoint of a run without a trainer', async () => {
    const set = ['--set', 'iterations=1', '--set', 'rollout.groups=1'];
    expect(await run('train', 'starter-bandit', ...set)).toMatchObject({ status: 0 });
    const [id] = runFolders();
    const pinned = () => existsSync(join(world.home, 'runs', id!, 'checkpoints/000000/pinned'));
    const state = join(world.home, 'runs', id!, 'checkpoints/000000/trainer-state.safetensors');
    rmSync(state);
    expect((await run('pin', id!, '0')).output).toContain(
      'pinned checkpoint 0; its optimizer state was already deleted',
    );
    expect(pinned()).toBe(true);
    writeFileSync(state, '');
    expect((await run('pin', id!, '0')).output).toBe('pinned checkpoint 0');
    expect((await run('show', id!)).output).toMatch(/checkpoints +0 \(optimizer state: 0\)/);
    expect(await run('pin', id!, '0', '--off')).toMatchObject({ status: 0, errors: '' });
    expect(pinned()).toBe(false);
    expect((await run('pin', id!, '7')).errors).toContain('details: checkpoint_missing');
  });

  test('Ctrl+C stops the trainer with a checkpoint, resume finishes the run, and extend continues it', async () => {
    const environment = world.environment({ FAKE_TRAINER_HOLD: '2' });
    const child = starpo(['train', 'starter-bandit', '--set', 'iterations=4'], environment);
    const [, id] = await child.line(/^run (\S+)$/);
    await child.line(/^iteration 2\//);
    const { status, output, errors } = await child.kill('SIGINT');
    expect(status).toBe(130);
    expect(output).toContain(
      `Stopped after iteration 2 of 4; checkpoint saved. Resume it with \`starpo resume ${id}\`.`,
    );
    expect(errors).toBe('stopping the trainer; press Ctrl+C again to exit without waiting\n');
    expect(JSON.parse((await run('show', id!, '--json')).output).summary).toMatchObject({
      status: 'stopped',
      iteration: 2,
    });

    const resumed = await run('resume', id!);
    expect(resumed).toMatchObject({ status: 0, errors: '' });
    expect(resumed.output).toMatch(
      new RegExp(
        `^resuming run ${id} after iteration 2 of 4[\\s\\S]*iteration 3/4[\\s\\S]*completed after iteration 4`,
      ),
    );
    expect(resumed.output).not.toContain('iteration 2/4');
    expect((await run('resume', id!)).errors).toMatch(/`starpo extend \S+ ITERATIONS`[\s\S]*details: run_completed/);
    expect((await run('stop', id!)).errors).toContain(`with \`starpo extend ${id} ITERATIONS\`.`);
    const extended = await run('extend', id!, '3');
    expect(extended).toMatchObject({ status: 0, errors: '' });
    expect(extended.output).toMatch(/iteration 5\/7[\s\S]*completed after iteration 7 of 7$/);
    expect((await run('extend', id!, '0')).errors).toContain("argument 'iterations'. It must be 1 or more.");
  });

  test('pause, resume, logs and stop control the run of another command', async () => {
    const host = starpo(['serve', '--port', '0'], world.environment({ FAKE_TRAINER_HOLD: '1,2' }));
    await host.line(/^StarPO Studio is at/);
    const training = starpo(['train', 'starter-bandit', '--set', 'iterations=4'], world.environment());
    const [, id] = await training.line(/^run (\S+)$/);
    await training.line(/^iteration 1\//);
    const following = starpo(['logs', id!, '--follow'], world.environment());
    await following.line(/info {5}Started on/);
    expect(await run('pause', id!)).toMatchObject({ status: 0, output: expect.stringContaining('`starpo resume') });
    await training.line(new RegExp(`^paused at iteration 1; resume it with \`starpo resume ${id}\`$`));
    expect((await run('pause', id!)).output).toBe(`${id} is already paused`);
    const resumed = starpo(['resume', id!], world.environment());
    await resumed.line(/^iteration 2\//);
    await training.line(/^resumed at iteration 1$/);
    expect(await run('stop', id!)).toMatchObject({
      status: 0,
      output: `Stopped after iteration 2 of 4; checkpoint saved. Resume it with \`starpo resume ${id}\`.`,
    });
    const { output: ofResumed, ...ended } = await resumed.finished;
    expect(ended).toEqual({ status: 1, errors: '' });
    expect(ofResumed).not.toContain('continued');
    expect(await training.finished).toMatchObject({ status: 1, output: expect.stringMatching(/^Stopped after/m) });
    const { status, output } = await following.finished;
    expect(status).toBe(0);
    expect(output).toMatch(/Stopped on request after iteration 2\./);
    expect((await run('logs', id!)).output).toBe(output);
    expect((await run('stop', id!)).errors).toMatch(/is not running \(stopped\)[\s\S]*details: run_not_active/);
    expect((await run('stop', 'nothing')).errors).toContain('details: run_unknown');
    await host.kill();
  });

  test('compare shows results and differing settings side by side', async () => {
    const train = (...set: string[]) =>
      run(
        'train',
        'starter-bandit',
        ...['iterations=2', 'rollout.groups=1', ...set].flatMap((each) => ['--set', each]),
      );
    const [first, second] = [await train(), await train('rollout.group_size=4', 'seed=7')];
    const idOf = ({ output }: { output: string }) => /^run (\S+)$/m.exec(output)![1]!;
    const ids = [idOf(first!), idOf(second!)];
    const { output } = await run('compare', ...ids);
    expect(output).toMatch(/^ +Bandit \w{4} +Bandit \w{4}\nstatus +completed +completed\niteration +2 of 2 +2 of 2\n/);
    expect(output).toMatch(/^best success bandit +[\d.]+ % at \d +[\d.]+ % at \d$/m);
    expect(output).toMatch(/Settings that differ:\nseed +1 +7\nrollout.group_size +16 +4$/);
    const { runs, settings } = JSON.parse((await run('compare', ...ids, '--json')).output);
    expect(runs).toMatchObject(ids.map((id) => ({ id, status: 'completed', success: [{ environment: 'bandit' }] })));
    expect(settings).toEqual([
      { path: 'seed', values: [1, 7] },
      { path: 'rollout.group_size', values: [16, 4] },
    ]);
    expect(await run('compare', ids[0]!, ids[0]!)).toMatchObject({ status: 2 });
    const table = join(world.folder, 'table.csv');
    writeFileSync(table, 'step,success_rate\n1,0.5\n2,0.75\n');
    expect(await run('import', table, '--name', 'Imported')).toMatchObject({ status: 0 });
    expect((await run('compare', ids[0]!, 'Imported')).output).toMatch(
      /\nSettings are not available: imported runs have only metrics\.$/,
    );
  });

  test('open shows the page of a run of the running server, with a code that works once', async () => {
    const bin = join(world.folder, 'bin');
    mkdirSync(bin);
    const opened = join(world.folder, 'opened');
    spawnSync('mkfifo', [opened]);
    writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 });
    const environment = world.environment({ PATH: `${bin}:${process.env.PATH}`, DISPLAY: ':9' });
    const marks = ['--name', 'Bandit, long', '--tag', 'baseline', '--tag', 'b', '--note', 'A first try.'];
    const made = await run('new', 'starter-bandit', ...marks);
    const [created] = JSON.parse((await run('runs', '--json')).output);
    expect(created).toMatchObject({
      name: 'Bandit, long',
      marks: { tags: ['b', 'baseline'], note: 'A first try.' },
    });
    const id = made.output.split('/').at(-1)!;
    const host = starpo(['serve', '--port', '0'], environment);
    const [, , origin] = await host.line(printed);
    const [shown, address] = await Promise.all([starpoHere(['open', id], environment), readFile(opened, 'utf8')]);
    const [, code] = new RegExp(`^${origin}/#sign-in=([0-9a-f]+)/run/${id}\n$`).exec(address) ?? [];
    expect(shown.output).toMatch(new RegExp(`^StarPO Studio is at ${origin}/#sign-in=[0-9a-f]{32}/run/${id}$`));
    expect(shown.output).not.toContain(code);
    expect(await signIn(`${origin}/#sign-in=${code}`)).toMatchObject({ key: expect.any(String) });
    expect(await signIn(`${origin}/#sign-in=${code}`)).toBe(401);
    await host.kill('SIGTERM');

    const alone = starpo(['open', '--port', '0'], world.environment({ DISPLAY: '', WAYLAND_DISPLAY: '' }));
    await alone.line(/#sign-in=[0-9a-f]{32}\/start$/);
    expect(await alone.kill('SIGTERM')).toMatchObject({ status: 0, errors: '' });
  });

  const printed = /((http:\/\/127\.0\.0\.1:\d+)\/#sign-in=[0-9a-f]{32})$/;

  test('serve prints an address with a sign-in code and ends on request', async () => {
    const child = starpo(['serve', '--port', '0'], world.environment());
    const [, address, origin] = await child.line(printed);
    const key = await signIn(address!);
    const channel = await openWebSocket(origin!, key as ClientKey);
    expect(await createClient(channel).call('runs.list', {})).toEqual([]);
    channel.close();
    expect(await child.kill('SIGTERM')).toMatchObject({ status: 0, errors: '' });
    expect(existsSync(join(world.home, 'host.json'))).toBe(false);
  });

  test('after a restart of serve on the same port, an open page reconnects, but the old code is rejected', async () => {
    const first = starpo(['serve', '--port', '0'], world.environment());
    const [, address, origin] = await first.line(printed);
    const key = (await signIn(address!)) as ClientKey;
    await first.kill();
    const second = starpo(['serve', '--port', new URL(origin!).port], world.environment());
    const [, later] = await second.line(printed);
    expect(later).not.toBe(address);
    expect(await signIn(address!)).toBe(401);
    const channel = await openWebSocket(origin!, key);
    expect(later).toContain(channel.code);
    expect(await createClient(channel).call('runs.list', {})).toEqual([]);
    await second.kill();
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'train and other commands work through a host, and train continues when the host exits by %s',
    async (signal) => {
      const host = starpo(['serve', '--port', '0'], world.environment({ FAKE_TRAINER_HOLD: '3' }));
      await host.line(/^StarPO Studio is at/);
      const model = ['--set', `start.model=${relative(process.cwd(), join(world.resources, 'starter'))}`];
      const training = starpo(['train', 'starter-bandit', '--set', 'iterations=5', ...model], world.environment());
      const [, id] = await training.line(/^run (\S+)$/);
      await training.line(/^iteration 3\//);
      expect(JSON.parse((await run('runs', '--json')).output)).toMatchObject([{ id, status: 'running' }]);
      expect((await run('show', id!)).output).toContain('running');
      expect((await run('new', 'starter-bandit')).output).toContain(join(world.home, 'runs'));
      expect(await run('doctor')).toMatchObject({ status: 0 });
      await host.kill(signal);

      const studio = await world.studio();
      const client = createClient(await studio.open());
      expect(await client.call('runs.command', { runId: id!, command: 'checkpoint' })).toMatchObject({
        accepted: true,
      });
      const { status, output, errors } = await training.finished;
      expect({ status, errors }).toEqual({ status: 0, errors: '' });
      const iterations = [...output.matchAll(/^iteration (\d)\/5/gm)].map((match) => Number(match[1]));
      expect(iterations).toEqual([1, 2, 3, 4, 5]);
      expect(output).toMatch(/completed after iteration 5 of 5$/);
    },
  );

  test('train becomes the host for other commands, and a remaining client takes over', async () => {
    const training = starpo(['train', 'starter-bandit'], world.environment({ FAKE_TRAINER_HOLD: '2' }));
    const [, id] = await training.line(/^run (\S+)$/);
    await training.line(/^iteration 2\//);
    const app = starpo(['serve', '--port', '0'], world.environment());
    const [, , origin] = await app.line(printed);
    const other = starpo(['serve', '--port', '0'], world.environment());
    await other.line(/http:/);
    expect(await other.kill('SIGTERM')).toMatchObject({ status: 0, errors: '' });
    const channel = await openApiOf(world.home, origin!);
    const { accepted } = await createClient(channel).call('runs.command', { runId: id!, command: 'stop' });
    expect(accepted).toBe(true);
    expect(await training.finished).toMatchObject({ status: 1, output: expect.stringMatching(/^Stopped after/m) });
    expect(JSON.parse((await run('runs', '--json')).output)).toMatchObject([{ id, status: 'stopped' }]);
    await app.kill();
  });

  test('serve reports a busy port', async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    const { status, errors } = await run('serve', '--port', String(port));
    expect(status).toBe(1);
    expect(errors).toMatch(/^error: .*\n {2}hint: .*--port.*\n {2}details: port_busy\n$/);
    server.close();
  });

  test('doctor names problems', async () => {
    const healthy = await run('doctor');
    expect(healthy).toMatchObject({ status: 0, output: expect.not.stringContaining('PROBLEM') });
    expect(healthy.output).toMatch(/^- +GPU +A test double has no GPU\.\n +None is needed\.$/m);
    const environment = world.environment({ STARPO_TRAINER: join(world.folder, 'nowhere') });
    const sick = await starpoHere(['doctor'], environment);
    expect(sick).toMatchObject({ status: 1, output: expect.stringMatching(/PROBLEM +trainer/) });
  });

  test.each([['runs'], ['new', 'starter-bandit'], ['serve', '--port', '0'], ['train', 'starter-bandit']])(
    '%s reports a data folder that is a file',
    async (...args) => {
      const file = join(world.folder, 'file');
      writeFileSync(file, '');
      const { status, output, errors } = await run(...args, '--home', file);
      expect({ status, output }).toEqual({ status: 1, output: '' });
      expect(errors).toMatch(/^error: .+ is a file\.\n {2}hint: .*--home.*\n {2}details: data_folder_unusable\n$/);
    },
  );

  test('a data folder in use on another machine is reported with the name of the machine', async () => {
    const database = openDatabase(world.home);
    const record = { address: 'http://127.0.0.1:9', token: '0'.repeat(64), pid: 42, host: 'gpu-server' };
    writeFileSync(join(world.home, 'host.json'), JSON.stringify(record));
    const { status, errors } = await run('runs');
    database.close();
    expect(status).toBe(1);
    expect(errors).toMatch(/^error: .*gpu-server.*42.*\n {2}hint: .*\n {2}details: data_folder_elsewhere\n$/);
  });

  test('train without a trainer creates no run', async () => {
    const environment = world.environment({ STARPO_TRAINER: join(world.folder, 'nowhere') });
    const { status, errors } = await starpoHere(['train', 'starter-bandit'], environment);
    expect(status).toBe(1);
    expect(errors).toContain('details: trainer_missing');
    expect(runFolders()).toEqual([]);
  });

  test.each([
    [['new', 'starter-bandit', '--set', 'iteration=5'], 'config_invalid', 'Did you mean iterations?'],
    [['new', 'starter-bandit', '--set', 'iterations=many'], 'config_invalid', 'iterations'],
    [['new', 'starter-bandit', '--set', 'iterations=0'], 'config_invalid', 'iterations'],
    [['new', 'starter-bandit', '--set', 'iterations'], 'config_invalid', '--set'],
    [['train', 'starter-bandit', '--set', 'rollout.temperature=99'], 'config_invalid', 'rollout.temperature'],
    [['new', 'starter-bandit', '--set', 'start.model=nowhere'], 'model_missing', 'start.model'],
    [['new', 'starter-bandits'], 'preset_unknown', 'starter-bandit'],
    [
      ['new', 'starter-bandit', '--set', 'seed=1', '--seed', '9'],
      'usage_invalid',
      'error: --set seed=1 contradicts --seed 9.',
    ],
    [['check', 'starter-bandit', '--set', 'device=cpu', '--device', 'cuda'], 'usage_invalid', '--device cuda'],
    [['new', 'starter-bandit', '--seed', '-1'], 'usage_invalid', '--help'],
    [['show', 'nothing'], 'run_unknown', 'starpo runs'],
    [['show', '../../etc'], 'run_unknown', 'starpo runs'],
    [['serve', '--port', '99999'], 'usage_invalid', '--help'],
    [['fly'], 'usage_invalid', '--help'],
    [['check', '--config', 'nope.json'], 'config_unreadable', "error: nope.json can't be read: file not found.\n"],
    [['adopt', '/nope'], 'run_folder_invalid', 'The folder /nope was not found.'],
    [['webshop', 'import', '/nope'], 'catalogue_missing', "error: Can't read the folder /nope: file not found.\n"],
    [['env', 'check', 'true', '--directory', '/nope'], 'directory_missing', 'The folder /nope was not found.'],
    [['sweep', 'new', '/nope.json'], 'study_invalid', "error: /nope.json can't be read: file not found.\n"],
    [['stpo'], 'usage_invalid', 'Did you mean stop?'],
    [['check', 'starter-bandit', '--set', 'rollout.groups=0'], 'config_invalid', 'rollout.groups must be 1 or more.\n'],
    [['queue', 'lst'], 'usage_invalid', 'Did you mean list? List commands with `starpo queue --help`.'],
    [['help', 'evaluat'], 'usage_invalid', 'Did you mean evaluate?'],
    [['tag', 'x', '!!'], 'usage_invalid', "'tags'. It must be 1 to 40 letters, digits, spaces or . _ : / + -, and"],
    [['rename', 'x', 'a'.repeat(81)], 'usage_invalid', "'name'. It must be at most 80 characters, on one line."],
    [['pin', 'x', '1.5'], 'usage_invalid', "'iteration'. It must be a whole number."],
    [['queue', 'move', 'x', '0'], 'usage_invalid', "'position'. It must be 1 or more."],
    [['pin', 'x'], 'usage_invalid', 'Run `starpo pin --help` to list arguments and options.'],
    [['queue', 'move', 'x', 'y'], 'usage_invalid', 'Run `starpo queue move --help` to list arguments and options.'],
    [['bundle'], 'usage_invalid', 'Run `starpo bundle --help` to list commands.'],
    [['bundle', 'import'], 'usage_invalid', 'Did you mean `starpo import`? List commands with `starpo bundle --help`.'],
    [['export', 'x'], 'usage_invalid', 'hint: Allowed choices are csv, '],
    [['export', 'x', '--as', 'csv', '--live'], 'usage_invalid', '--live supports only TensorBoard events.'],
    [['export', 'x', '--as', 'tensorboard', '--live'], 'usage_invalid', '--live needs an output folder.'],
    [['export', 'x', '--as', 'y'], 'usage_invalid', 'panels.\n  hint: Run `starpo export --help` to list'],
    [
      ['evaluate', 'x', '--levels', '0'],
      'usage_invalid',
      "error: The value '0' is invalid for option '--levels <number>'. It must be 1 or more.",
    ],
    [
      ['evaluate', 'x', '--top-p', '1.5'],
      'usage_invalid',
      "error: The value '1.5' is invalid for option '--top-p <number>'. It must be 1 or less.",
    ],
    [['train'], 'usage_invalid', 'Name a preset, a run or a configuration.'],
    [['check'], 'usage_invalid', 'See `starpo check --help`.'],
    [[], 'usage_invalid', 'Run `starpo --help` to list commands.'],
  ])('%j is rejected with a code, a hint and status 2, without changing files', async (args, code, mention) => {
    const { status, output, errors } = await run(...args);
    expect(status).toBe(2);
    expect(output).toBe('');
    expect(errors).toMatch(new RegExp(`^error: .+\\n {2}hint: .+\\n {2}details: ${code}\\n$`));
    expect(errors).toContain(mention);
    expect(runFolders()).toEqual([]);
  });

  test.each([
    ['run_unknown', ['show', 'nothing', '--json']],
    ['usage_invalid', ['train', '--jsn', '--json']],
    ['config_invalid', ['train', 'starter-bandit', '--set', 'seed=x', '--json']],
  ])('with --json, %s is one JSON object on stderr', async (code, args) => {
    const { status, output, errors } = await run(...args);
    expect({ status, output }).toEqual({ status: 2, output: '' });
    expect(JSON.parse(errors)).toEqual({
      code,
      message: expect.stringMatching(/\.$/),
      hint: expect.stringMatching(/./),
    });
    expect(errors.endsWith('}\n')).toBe(true);
  });

  test.each([
    [[], "error: Standard output can't be written: no space is left on the disk.\n"],
    [['--json'], '{"code":"file_not_written","message":"Standard output can\'t be written: no space is left on'],
  ])('output to a full disk is reported, with the options %j', (options, message) => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [commandLine, 'presets', ...options], {
      ...{ encoding: 'utf8', env: world.environment() },
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(message) });
    expect(stderr.match(/file_not_written/g)).toHaveLength(1);
  });

  test('every command names a missing checkpoint in the same words', async () => {
    const [id] = (await run('new', 'starter-bandit', '--name', 'mine')).output.split('/').slice(-1);
    const missing = `error: Run ${id} has no checkpoint at iteration 3.\n`;
    const saved = 'A run saves its first checkpoint after the initial evaluation. If it was deleted, start a new run.';
    for (const args of [
      ['pin', 'mine', '3'],
      ['new', '--from', 'mine@3'],
      ['export', 'mine', '--as', 'hugging-face', '--checkpoint', '3', '--out', 'out'],
    ])
      expect(await run(...args)).toMatchObject({
        status: 2,
        errors: `${missing}  hint: ${saved}\n  details: checkpoint_missing\n`,
      });
    const none = `error: Run ${id} has no checkpoint.\n`;
    expect((await run('evaluate', 'mine')).errors).toContain(none);
    expect((await run('export', 'mine', '--as', 'hugging-face', '--out', 'out')).errors).toContain(none);
  });
});
