import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { StudyPoint } from '../../core/contract/contract.ts';
import type { Core } from '../../core/index.ts';
import { createCore } from '../../core/index.ts';
import { starpoHere } from '../core/fixtures/command.ts';
import { newTinyRun } from './tiny-run.ts';
import { temporaryHome, train } from './trainer-process.ts';

/** Resolves when every run of a sweep is complete. */
function untilCompleted(core: Core, id: string): Promise<void> {
  return new Promise((resolve) => {
    const check = () => core.studies.summary(id).state === 'completed' && resolve();
    core.notices.on((name) => name === 'study' && check());
    check();
  });
}

test('sweeps of a run and of its checkpoint are trained and tabulated', async () => {
  const home = temporaryHome(onTestFinished);
  const folder = await newTinyRun(home);
  expect(await train(folder)).toBe(0);
  const run = basename(folder);
  const core = await createCore({ home, worksQueue: true });
  const points: StudyPoint[] = [
    { name: 'alike', set: {} },
    { name: 'without an entropy bonus', set: { 'policy_loss.entropy_coefficient': 0 } },
  ];
  const alike = await core.studies.create({
    name: 'Alike',
    base: { run },
    points,
    seeds: [1, 2],
    start: true,
  });
  await untilCompleted(core, alike);
  const { table } = await core.studies.get(alike);
  for (const { cells, before, after, training } of table) {
    expect(cells.map(({ status, iteration }) => [status, iteration])).toEqual([
      ['completed', 4],
      ['completed', 4],
    ]);
    expect([before?.n, after?.n, training?.n]).toEqual([2, 2, 2]);
  }
  // The first run repeats the run that the sweep is based on.
  const last = 'checkpoints/000004/model.safetensors';
  const weights = (runId: string) => readFileSync(join(core.runs.folder(runId), last));
  expect(weights(`${alike}-p1-s1`).equals(weights(run))).toBe(true);
  expect(weights(`${alike}-p1-s2`).equals(weights(run))).toBe(false);

  const fork = await core.studies.create({
    name: 'Fork',
    base: { run, checkpoint: 2, keepOptimizer: true },
    points: points.slice(0, 1),
    seeds: [1],
    start: true,
  });
  await untilCompleted(core, fork);
  expect(weights(`${fork}-p1-s1`).equals(weights(run))).toBe(true);
  expect(core.studies.summary(fork).base).toBe(`${run}@2`);
  await core.dispose();
});

test('a setting that breaks a rule of the trainer is rejected by name', async () => {
  const home = temporaryHome(onTestFinished);
  const core = await createCore({ home });
  const points = [{ name: 'odd', set: { 'policy_loss.mini_batch': 24 } }];
  await expect(
    core.studies.create({ name: 'Odd', base: { preset: 'starter-bandit' }, points, seeds: [1] }),
  ).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining('Setting "odd": policy_loss.mini_batch'),
  });
  expect(core.studies.list()).toEqual([]);
  await core.dispose();
});

test("RAGEN's table 1 is reproduced in short with the starter", async () => {
  const home = temporaryHome(onTestFinished);
  const args = ['reproduce', 'ragen', '--quick', '--only', 'table-1', '--home', home, '--out', join(home, 'report')];
  expect(await starpoHere(args, process.env)).toMatchObject({ status: 0, errors: '' });
  const report = readFileSync(join(home, 'report', 'report.md'), 'utf8');
  const [row] = report.match(/^\| Bandit, StarPO \| GRPO \| 1 \|.*$/m)!;
  // Distinct thoughts before, and thoughts after, each with a number from the trainer.
  expect(row.match(/\d+\.\d %/g)).toHaveLength(4);
  expect(report).toMatch(/Evaluation panels:\*\* bandit [0-9a-f]{8}$/m);
});
