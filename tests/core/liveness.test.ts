import { spawnSync } from 'node:child_process';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeJobFile } from '../../core/cluster/job-file.ts';
import { Liveness } from '../../core/run-sync/liveness.ts';
import type { Trainer } from '../../core/trainer/trainer.ts';
import { FakeSlurm } from './fixtures/fake-slurm.ts';
import * as journal from './fixtures/journal.ts';
import { untilRun, World } from './fixtures/world.ts';

test('checking sixty runs of other hosts starts at most two processes at once, and a dead pid starts none', async () => {
  let [active, most, requests] = [0, 0, 0];
  const status = async () => {
    requests += 1;
    most = Math.max(most, ++active);
    await new Promise((resolve) => setImmediate(resolve));
    active -= 1;
    if (requests === 3) throw new Error('the trainer is missing');
    return { running: requests % 2 === 0, pid: null };
  };
  const liveness = new Liveness({ status } as unknown as Trainer, '/nowhere');
  const row = (index: number, pid: number | null, host: string) => ({ id: `run-${index}`, pid, host });
  const remote = Array.from({ length: 60 }, (_, index) => liveness.isRunning(row(index, 1, 'elsewhere')));
  const answers = await Promise.all(remote);
  expect(answers).toHaveLength(60);
  expect(new Set(answers)).toEqual(new Set([true, false, null]));
  expect(requests).toBe(60);
  expect(most).toBeLessThanOrEqual(2);

  const dead = spawnSync(process.execPath, ['--version']).pid;
  expect(await liveness.isRunning(row(0, dead, hostname()))).toBe(false);
  expect(requests).toBe(60);
});

test('a run on another machine is running while its journal grows, until its lock is released or Slurm reports that its job is not running', async () => {
  const world = new World();
  const folder = world.run('submitted', [journal.started(0)]);
  writeJobFile(folder, { target: 'slurm', job: '1', submitted: 1 });
  const slurm = new FakeSlurm();
  slurm.jobs.set('1', { state: 'RUNNING', reason: 'None', nice: 0, exitCode: '0:0' });
  const [started, hidden] = ['started', 'hidden'].map((id) => world.run(id, [journal.started(0)])) as [string, string];
  let silence = 0;
  const clock = () => performance.now() + silence;
  const core = await world.core(undefined, { backgroundWork: true, clock, slurm: { run: slurm.run, interval: 0 } });
  const untilIs = (expected: string, run = 'submitted') => untilRun(core, run, ({ status }) => status === expected);
  // Their locks are not visible on this machine.
  await Promise.all(['submitted', 'started', 'hidden'].map((run) => untilIs('interrupted', run)));
  const append = (line: string) => appendFileSync(join(folder, 'events.jsonl'), `${line}\n`);
  append(journal.iteration(1, 1));
  const lock = join(started, 'trainer.lock');
  writeFileSync(lock, JSON.stringify({ pid: process.pid }));
  for (const folder of [started, hidden]) appendFileSync(join(folder, 'events.jsonl'), `${journal.iteration(1, 1)}\n`);
  await core.supervisor.scanNow();
  for (const run of ['submitted', 'started', 'hidden']) expect(core.runs.get(run).status).toBe('running');
  // Two of the runs have no job, so their machines may be down, but only the lock of one was seen.
  rmSync(lock);
  silence = 3_600_000;
  // The first scan finds that they stall.
  for (let scan = 0; scan < 3; scan++) await core.supervisor.scanNow();
  expect(core.runs.get('started').status).toBe('interrupted');
  expect(core.runs.get('hidden')).toMatchObject({ status: 'running', stalled: { code: 'trainer_stalled' } });
  expect(core.runs.get('submitted').status).toBe('running');
  slurm.set('1', { state: 'PENDING', reason: 'BeginTime' });
  await untilIs('interrupted');
  slurm.set('1', { state: 'RUNNING' });
  append(journal.started(2));
  await untilIs('running');
  append(journal.stopped(3, 1));
  await untilIs('completed');
  await world.close();
});
