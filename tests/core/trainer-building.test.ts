import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemInfo } from '../../core/server/handlers.ts';
import { Trainer } from '../../core/trainer/trainer.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'starpo-building-'));
  path = join(folder, 'starpo-trainer');
});
afterEach(() => rmSync(folder, { recursive: true }));

const writeState = (state: object) => writeFileSync(join(folder, 'building.json'), JSON.stringify(state));
const info = () =>
  systemInfo({ version: '1', home: folder, trainer: new Trainer([path]), history: { readOnly: null } });

function putTrainer() {
  const devices = {
    devices: [],
    build: 'new',
    cuda: { runtime_version: null, driver_version: null, problem: null },
  };
  const answers = `case $1 in devices) echo '${JSON.stringify(devices)}';; status) echo '{"locked":false}';; esac`;
  writeFileSync(path, `#!/bin/sh\n${answers}\n`);
  chmodSync(path, 0o755);
}

test('while setup builds the trainer, its progress is reported and an older build only answers `status`', async () => {
  putTrainer();
  writeState({ pid: process.pid, done: 43, total: 210, problem: null });
  const { trainer } = await info();
  expect(trainer).toMatchObject({ build: null, building: { done: 43, total: 210 } });
  expect(trainer.problem).toContain('The trainer is being built: 43 of 210 files.');
  const older = new Trainer([path]);
  expect(() => older.require()).toThrow('43 of 210');
  await expect(older.status(folder)).resolves.toEqual({ running: false, pid: null });
  await expect(older.validate({})).rejects.toMatchObject({ code: 'trainer_missing' });
});

test('a failed build is reported until a newer trainer exists', async () => {
  const problem = { message: 'a.cpp:3:1: error: expected }', hint: 'Run `npm run setup` once it is mended.' };
  writeState({ pid: process.pid, done: 0, total: 0, problem });
  const { trainer } = await info();
  expect(trainer.building).toBeNull();
  expect(trainer.problem).toContain('a.cpp:3:1: error: expected }');
  expect(trainer.problem).toContain('npm run setup');
  putTrainer();
  utimesSync(join(folder, 'building.json'), 1, 1);
  expect((await info()).trainer).toMatchObject({ build: 'new', problem: null, building: null });
});

test('the state file of a killed setup is ignored', async () => {
  putTrainer();
  const { pid } = spawnSync('true');
  writeState({ pid, done: 43, total: 210, problem: null });
  expect((await info()).trainer).toMatchObject({ build: 'new', problem: null, building: null });
  // The pid now belongs to another process.
  writeState({ pid: process.pid, done: 43, total: 210, problem: null });
  utimesSync(join(folder, 'building.json'), 1, 1);
  expect((await info()).trainer).toMatchObject({ build: 'new', problem: null, building: null });
});
