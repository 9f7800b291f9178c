import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { taskText } from '../../core/host/cancelable.ts';
import { paint, print } from '../../core/host/output.ts';
import { completionsOf } from '../../core/host/program/completion.ts';
import { createProgram } from '../../core/host/program/program.ts';
import { ProgressLine, progressText } from '../../core/host/progress-line.ts';
import { findRun } from '../../core/host/run-reference.ts';
import { baseConfig } from '../../core/presets/base.ts';
import { findPreset, presets } from '../../core/presets/presets.ts';
import { commandLine } from '../command-line.ts';
import { starpo } from './fixtures/child.ts';
import { starpoHere } from './fixtures/command.ts';
import * as journal from './fixtures/journal.ts';
import { describeWithTrainer, resources, trainer } from './fixtures/real-trainer.ts';
import { World } from './fixtures/world.ts';

const runs = [
  { id: 'starter-bandit-starpo-s-20260101-1200-a16c', name: 'Bandit a16c' },
  { id: 'starter-bandit-starpo-s-20260101-1201-a2ff', name: 'Bandit a2ff' },
  { id: 'width-p1-s3', name: 'Width: narrow s3' },
  { id: 'width-p2-s3', name: 'Width: wide s3' },
];

describe('a run reference', () => {
  test.each([
    ['a16c', 0],
    ['A16C', 0],
    ['a1', 0],
    ['Bandit a2ff', 1],
    [runs[1]!.id, 1],
    ['starter-bandit-starpo-s-20260101-1201', 1],
    ['width-p2', 3],
    ['Width: narrow s3', 2],
  ])('%j finds the run', (text, index) => expect(findRun(runs, text)).toBe(runs[index]));

  test.each([
    ['a', /"a" matches 2 runs/, ['a16c (Bandit a16c)', 'a2ff (Bandit a2ff)']],
    ['s3', /"s3" matches 2 runs/, ['width-p1-s3 (Width: narrow s3)', 'width-p2-s3']],
  ])('%j is ambiguous and lists the candidates', (text, message, listed) => {
    expect(() => findRun(runs, text)).toThrow(
      expect.objectContaining({ code: 'run_ambiguous', message: expect.stringMatching(message) }),
    );
    for (const each of listed)
      expect(() => findRun(runs, text)).toThrow(expect.objectContaining({ hint: expect.stringContaining(each) }));
  });

  test('a name with the end of the id distinguishes runs with the same name, as in the app', () => {
    const alike = runs.slice(0, 2).map((run) => ({ ...run, name: 'Mine' }));
    expect(findRun(alike, 'Mine a2ff')).toBe(alike[1]);
    expect(() => findRun(alike, 'Mine')).toThrow(expect.objectContaining({ code: 'run_ambiguous' }));
  });

  test.each(['b16c', '', '../../etc', 'starter-bandit-starpo-s-20260101-1200-a16d'])('%j matches no run', (text) => {
    expect(() => findRun(runs, text)).toThrow(expect.objectContaining({ code: 'run_unknown' }));
  });
});

describe('progress', () => {
  const state = {
    iteration: 50,
    iterations: 200,
    phase: { name: 'rollout', iteration: 51, done: 12, total: 128 },
    etaSeconds: 290,
  };
  const screenOf = (isTTY: boolean) => {
    const written: string[] = [];
    return { isTTY, columns: 60, written, write: (text: string) => written.push(text) > 0 };
  };

  test('shows a bar, the phase and the time left', () => {
    expect(progressText(state)).toBe('[######..................]  50 of 200  rollout 12 of 128  about 5 min left');
    expect(progressText({ ...state, phase: null, etaSeconds: null })).toBe('[######..................]  50 of 200');
  });

  test('stays on the last line of a terminal and fits its width', () => {
    const screen = screenOf(true);
    const line = new ProgressLine(screen, 'xterm');
    line.show(state);
    line.show(state);
    line.print('iteration 50/200');
    line.erase();
    const drawn = progressText(state).slice(0, 59);
    expect(screen.written).toEqual([drawn, '\r\u001b[2K', 'iteration 50/200\n', drawn, '\r\u001b[2K']);
  });

  test('shows the available figures of other tasks', () => {
    expect(taskText('Packing a run', 0, 0, null)).toBe('Packing a run');
    expect(taskText('Packing a run', 999, 1000, 90)).toBe('Packing a run  99 %  about 2 min left');
    const screen = screenOf(true);
    const line = new ProgressLine(screen, 'xterm');
    line.showText('Packing a run  1 %');
    line.erase();
    expect(screen.written).toEqual(['Packing a run  1 %', '\r\u001b[2K']);
  });

  test.each([
    ['output without a terminal', false, 'xterm'],
    ['a dumb terminal', true, 'dumb'],
  ])('%s gets only the lines', (_, isTTY, kind) => {
    const screen = screenOf(isTTY);
    const line = new ProgressLine(screen, kind);
    line.show(state);
    line.print('iteration 50/200');
    line.erase();
    expect(screen.written).toEqual(['iteration 50/200\n']);
  });
});

describe('completion', () => {
  let world: World;
  beforeAll(() => {
    world = new World();
    for (const { id } of runs.slice(0, 2)) world.run(id);
    mkdirSync(join(world.home, 'studies'));
    writeFileSync(join(world.home, 'studies/width.json'), '{}');
  });
  afterAll(() => world.close());
  const complete = (line: string) =>
    completionsOf(createProgram(), [...line.split(' ')].slice(1)).map(({ value }) => value);

  test.each([
    ['starpo tr', ['train', 'trash']],
    ['starpo queue m', ['move']],
    ['starpo help ev', ['evaluate']],
    ['starpo train --se', ['--set', '--seed']],
    ['starpo train --set optimizer.learn', ['optimizer.learning_rate=']],
    ['starpo train starter-mixed --set seed=1 --dev', ['--device']],
    ['starpo train --device c', ['cpu', 'cuda']],
    ['starpo train starter-frozen-lake-trap', ['starter-frozen-lake-trap']],
    ['starpo export x --as h', ['hugging-face']],
    ['starpo completion z', ['zsh']],
    ['starpo import ./a', []],
    ['starpo train --config r', []],
  ])('%s', (line, expected) => expect(complete(line)).toEqual(expected));

  test('completes runs and sweeps of the data folder', () => {
    const [first, second] = runs.map(({ id }) => id);
    const inHome = (line: string) => complete(line.replace(/ (\S*)$/, ` --home ${world.home} $1`));
    expect(inHome('starpo show ')).toEqual([first, second]);
    expect(inHome('starpo compare a16c starter-bandit-starpo-s-20260101-1201')).toEqual([second]);
    expect(inHome('starpo stop a2')).toEqual(['a2ff']);
    expect(complete(`starpo train --home ${world.home} --from starter-bandit-starpo-s-20260101-1200`)).toEqual([first]);
    expect(inHome('starpo sweep show ')).toEqual(['width']);
  });

  test('bash completes a command line with the printed script', async () => {
    const bin = join(world.folder, 'bin');
    mkdirSync(bin);
    const script = `#!/bin/sh\nexec ${process.execPath} ${commandLine} "$@"\n`;
    writeFileSync(join(bin, 'starpo'), script, { mode: 0o755 });
    const typed = `source <(starpo completion bash); COMP_WORDS=(starpo show a16); COMP_CWORD=2; _starpo; echo "\${COMPREPLY[@]}"`;
    const env = { ...world.environment(), PATH: `${bin}:${process.env.PATH}` };
    const { stdout, stderr } = spawnSync('bash', ['-c', typed], { env, encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: 'a16c\n', stderr: '' });
  });
});

test('printed texts of runs cannot control the terminal', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  print('one\ttwo\nthree\u001b]52;c;cm0=\u0007\u009b2J');
  expect(write.mock.calls).toEqual([['one\ttwo\nthree\\u001b]52;c;cm0=\\u0007\\u009b2J\n']]);
  write.mockRestore();
});

test('colors appear only on a terminal', () => {
  const stream = (isTTY: boolean) => Object.assign(new PassThrough(), { isTTY, getColorDepth: () => 8 });
  expect(paint('red', 'error:', stream(true))).toBe('\u001b[31merror:\u001b[39m');
  expect(paint('red', 'error:', stream(false))).toBe('error:');
});

describe('help', () => {
  test('lists every command in a group', () => {
    const help = createProgram().helpInformation();
    expect(help).not.toMatch(/^Commands:$/m);
    const groups = [...help.matchAll(/^([A-Z].*):$/gm)].map(([, title]) => title);
    expect(groups).toEqual([
      ...['Options', 'Train', 'Configure', 'Inspect', 'Organize', 'Import and export', 'App and machine'],
    ]);
  });

  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];

  test('examples name presets and environments that exist', () => {
    const parts: string[] = [];
    for (const command of all(createProgram()))
      command.configureOutput({ writeOut: (part) => void parts.push(part) }).outputHelp();
    const named = (pattern: RegExp) => [...parts.join('').matchAll(pattern)].map(([, name]) => name!);
    const trained = named(/starpo (?:train|check|new) ([a-z]\S+)/g);
    expect(trained).toContain('starter-frozen-lake');
    for (const name of trained) expect(findPreset(name)).toBeDefined();
    const types = presets.flatMap(({ config }) => config.environments.map(({ type }) => type));
    const evaluatedOn = named(/starpo evaluate .*--on (\S+)/g);
    expect(evaluatedOn).toEqual(['frozen-lake']);
    for (const type of evaluatedOn) expect(types).toContain(type);
  });

  test('no help shows an empty list as a default', () => {
    for (const command of all(createProgram())) expect(command.helpInformation()).not.toContain('default: []');
  });
});

describe('starpo', { timeout: 300_000 }, () => {
  let world: World;
  beforeAll(() => {
    world = new World();
    world.run(runs[0]!.id, [journal.started(0), journal.iteration(1, 1)]);
    world.run(runs[1]!.id, [journal.started(0)]);
  });
  afterAll(() => world.close());
  const run = (...args: string[]) => starpoHere(args, world.environment());

  test('accepts the short ids shown in the app wherever a run is expected', async () => {
    expect((await run('show', 'a16c')).output).toContain(runs[0]!.id);
    expect(await run('tag', 'a2ff', 'wide')).toMatchObject({ status: 0, output: 'wide' });
    const tags = Array.from({ length: 50 }, (_, index) => `t${index}`);
    expect((await run('tag', 'a16c', ...tags)).output.split(', ')).toEqual(tags.toSorted());
    expect(await run('note', 'a1', 'seen')).toMatchObject({ status: 0 });
    expect(await run('alerts', 'a16c')).toMatchObject({
      status: 0,
      output: expect.stringContaining('alerts'),
    });
    const model = `start.model=${join(world.resources, 'starter')}`;
    const made = await run('new', '--from', 'a16c', '--set', model);
    expect(made).toMatchObject({ status: 0, errors: '' });
    expect(await run('queue', 'add', made.output.slice(-4))).toMatchObject({ status: 0 });
    expect(readdirSync(join(world.home, 'runs'))).toHaveLength(3);
    expect(await run('rename', 'a2ff', 'Wide clip')).toMatchObject({ status: 0, output: 'Wide clip' });
    const packed = join(world.folder, 'wide.zip');
    expect(await run('bundle', 'export', 'wide clip', packed)).toMatchObject({ status: 0, output: packed });
    const unclear = await run('show', 'starter-bandit');
    expect(unclear.status).toBe(2);
    expect(unclear.errors).toMatch(/"starter-bandit" matches 2 runs[\s\S]*a16c[\s\S]*details: run_ambiguous/);
    expect((await run('delete', 'wide clip')).output).toMatch(/moved \S*a2ff .* to the trash/);
  });

  test('presets lists what each preset demonstrates and how long it takes, as in the app', async () => {
    const times = [1, 2, 3].map((at) =>
      JSON.stringify({
        v: 1,
        seq: at,
        time: 1_700_000_000_000 + at,
        type: 'iteration',
        iteration: at,
        metrics: { 'time/iteration': 6 },
      }),
    );
    // Times from another machine are ignored.
    const folder = world.run('timed', [journal.started(0).replace('elsewhere', hostname()), ...times]);
    const start = { ...baseConfig.start, model: 'starter' };
    const config = { ...baseConfig, preset: 'starter-bandit-starpo-s', start };
    writeFileSync(join(folder, 'run.json'), JSON.stringify(config));
    const { output } = await run('presets');
    expect(output).toMatch(
      /^starter-frozen-lake\n {2}FrozenLake, StarPO-S \(GRPO\), \d+ iterations, [\d hmins]+ to [\d hmins]+\n {2}\S/m,
    );
    expect(output).toMatch(
      /^starter-bandit\n {2}Bandit, StarPO-S \(PPO\), 60 iterations, [\d hmins]+ to [\d hmins]+\n/m,
    );
    expect(output).toMatch(/^starter-frozen-lake-trap\n/m);
    expect(output).toMatch(/^qwen2.5-0.5b-sokoban\n.*needs an NVIDIA GPU with/m);
    expect(output).not.toMatch(/^starter-bandit-ppo\n/m);
    expect((await run('presets', '--all')).output).toMatch(/^starter-bandit-ppo\n/m);
    const listed = JSON.parse((await run('presets', '--json')).output);
    const { time } = listed.find(({ alias }: { alias: string }) => alias === 'starter-bandit');
    expect(time).toMatchObject({ basis: 'measured', runs: 1, seconds: expect.any(Number) });
  });

  test.each([
    ['/etc/passwd', 'export_exists', "/etc/passwd can't be written: it already exists."],
    ['/proc/x.zip', 'export_unwritable', "/proc/x.zip can't be written: its folder does not accept new files."],
    ['/none/x.zip', 'export_unwritable', "/none/x.zip can't be written: its folder was not found."],
    ['/etc/passwd/x', 'export_unwritable', "/etc/passwd/x can't be written: a part of its path is a file."],
  ])('diagnostics reports that %s can not be written', async (path, code, message) => {
    const { status, output, errors } = await run('diagnostics', '--out', path);
    expect({ status: status! > 0, output }).toEqual({ status: true, output: '' });
    expect(errors).toBe(`error: ${message}\n  hint: Choose another file with --out.\n  details: ${code}\n`);
  });

  test('--device sets the device, as doctor advises', async () => {
    const { output } = await run('new', 'starter-bandit', '--device', 'cuda:1');
    const shown = JSON.parse((await run('show', output.split('/').at(-1)!, '--json')).output);
    expect(shown.config.device).toBe('cuda:1');
    expect((await starpoHere(['train', '--help'], world.environment())).output).toContain('--device');
  });

  test('serve reports that the port belongs to a StarPO Studio with another data folder', async () => {
    const other = join(world.folder, 'other');
    mkdirSync(other);
    const first = starpo(['serve', '--port', '0', '--home', other], world.environment());
    const [, port] = await first.line(/127\.0\.0\.1:(\d+)/);
    const { errors } = await starpoHere(['serve', '--port', port!], world.environment());
    await first.kill('SIGTERM');
    expect(errors).toContain('StarPO Studio is already serving a different data folder');
  });
});

describeWithTrainer('check', { timeout: 60_000 }, () => {
  test('check lists settings without effect that a user can choose', async () => {
    const world = new World();
    const environment = world.environment({ STARPO_TRAINER: trainer, STARPO_RESOURCES: resources });
    const { status, output } = await starpoHere(['check', 'starter-frozen-lake'], environment);
    await world.close();
    expect(status).toBe(0);
    expect(output).toMatch(/^no effect: kl.estimator, kl.placement, kl.reference \(kl.coefficient is 0/m);
    expect(output).not.toContain('warm_start');
    expect(output).toMatch(/The configuration is valid\.$/);
  });
});
