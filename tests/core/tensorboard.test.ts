import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Core } from '../../core/index.ts';
import { runWithin } from '../run-within.ts';
import { starpoHere } from './fixtures/command.ts';
import { readEvents } from './fixtures/tensorboard.ts';
import { collectNotices, fakeTrainer, root, untilRun, World } from './fixtures/world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await world.close();
});

const openCore = () => world.core(fakeTrainer, { backgroundWork: true });
const small = { iterations: 4, 'rollout.groups': 1, 'checkpoint.every': 2, 'evaluation.every': 2 };
const create = (core: Core) => core.runs.create({ preset: 'starter-bandit', set: small });
const folderOf = (runId: string) => join(world.home, 'tensorboard', runId);
const bytesOf = (runId: string) => {
  const [name] = readdirSync(folderOf(runId));
  return readFileSync(join(folderOf(runId), name!));
};

/** Returns `step tag` of each point that TensorBoard shows: those of all files except those dropped by a restart. */
function shown(runId: string): string[] {
  const files = existsSync(folderOf(runId)) ? readdirSync(folderOf(runId)) : [];
  return files.flatMap((name) => {
    let points: { step: number; tag: string }[] = [];
    for (const { step, scalars, restart } of readEvents(readFileSync(join(folderOf(runId), name)))) {
      if (restart === 1) points = points.filter((point) => point.step < step);
      points.push(...Object.keys(scalars).map((tag) => ({ step, tag })));
    }
    return points.map(({ step, tag }) => `${step} ${tag}`);
  });
}
const steps = (runId: string) => [...new Set(shown(runId).map((point) => Number.parseInt(point, 10)))];

/** Returns the points in the run history in the same form. */
const indexed = (core: Core, runId: string) =>
  core.database
    .prepare<[string], string>("SELECT iteration || ' ' || name FROM metrics WHERE run = ?")
    .pluck()
    .all(runId);

test('a run that changes its host, crashes and resumes has every point once', async () => {
  vi.stubEnv('FAKE_TRAINER_HOLD', '2');
  vi.stubEnv('FAKE_TRAINER_DIE', '3');
  const first = await openCore();
  const runId = await create(first);
  await first.runs.start(runId);
  await untilRun(first, runId, ({ iteration }) => iteration === 2);
  expect(existsSync(join(world.home, 'tensorboard'))).toBe(false);
  expect(first.tensorBoard.set(true)).toEqual({
    on: true,
    folder: join(world.home, 'tensorboard'),
    problem: null,
  });
  await expect.poll(() => steps(runId)).toEqual([0, 1, 2]);
  const before = bytesOf(runId);
  await world.end();
  // A file of a host with another name.
  writeFileSync(join(folderOf(runId), 'events.out.tfevents.1700000000.elsewhere.starpo'), before);

  const second = await openCore();
  expect(second.tensorBoard.state.on).toBe(true);
  await second.runs.command(runId, 'resume');
  await untilRun(second, runId, ({ status }) => status === 'interrupted');
  await second.runs.start(runId);
  await untilRun(second, runId, ({ status }) => status === 'completed');
  await expect.poll(() => steps(runId)).toEqual([0, 1, 2, 3, 4]);
  await expect.poll(() => shown(runId).sort()).toEqual(indexed(second, runId).sort());
  expect(readdirSync(folderOf(runId))).toHaveLength(1);
  // A reader that continues where the file ended before the restart misses nothing.
  expect(bytesOf(runId).subarray(0, before.length)).toEqual(before);
});

test('switching off stops writing, switching on writes what is missing, and deleting a run deletes its files', async () => {
  vi.stubEnv('FAKE_TRAINER_HOLD', '1,3');
  const core = await openCore();
  const runId = await create(core);
  core.tensorBoard.set(true);
  await core.runs.start(runId);
  await untilRun(core, runId, ({ iteration }) => iteration === 1);
  await expect.poll(() => steps(runId)).toEqual([0, 1]);
  expect(core.tensorBoard.set(false)).toMatchObject({ on: false });
  await core.runs.command(runId, 'resume');
  await untilRun(core, runId, ({ iteration }) => iteration === 3);
  await core.runs.command(runId, 'resume');
  await untilRun(core, runId, ({ status }) => status === 'completed');
  await world.end();
  expect(steps(runId)).toEqual([0, 1]);

  const later = await openCore();
  expect(later.tensorBoard.state.on).toBe(false);
  // The run completed, but its file is incomplete.
  later.tensorBoard.set(true);
  await expect.poll(() => shown(runId).sort()).toEqual(indexed(later, runId).sort());
  await later.trash.delete([runId]);
  expect(existsSync(folderOf(runId))).toBe(false);
});

test('a write error is reported and does not affect training, and missing metrics are written later', async () => {
  vi.stubEnv('FAKE_TRAINER_HOLD', '2');
  const core = await openCore();
  const runId = await create(core);
  const published = collectNotices(core, 'tensorBoard');
  core.tensorBoard.set(true);
  writeFileSync(folderOf(runId), 'in the way');
  await core.runs.start(runId);
  await untilRun(core, runId, ({ iteration }) => iteration === 2);
  await expect.poll(() => published.at(-1)?.problem?.code).toBe('tensorboard_unwritable');
  const { message, hint } = core.tensorBoard.state.problem!;
  expect(message).toMatch(/^TensorBoard files can't be written: .*EEXIST/);
  expect(hint).toContain('Training continues.');
  // One notice when switched on and one for the failure; the same problem is not published again.
  expect(published).toHaveLength(2);
  rmSync(folderOf(runId));
  await core.runs.command(runId, 'resume');
  await untilRun(core, runId, ({ status }) => status === 'completed');
  await expect.poll(() => shown(runId).sort()).toEqual(indexed(core, runId).sort());
  await expect.poll(() => published.slice(2).map(({ problem }) => problem)).toEqual([null]);
});

test("switching on fails if the folder can't be created", async () => {
  const core = await openCore();
  writeFileSync(join(world.home, 'tensorboard'), 'in the way');
  expect(() => core.tensorBoard.set(true)).toThrow(expect.objectContaining({ code: 'tensorboard_unwritable' }));
  expect(core.tensorBoard.state.on).toBe(false);
});

test('a full disk leaves complete records', () => {
  const folder = join(world.folder, 'full');
  mkdirSync(folder);
  const script = `
    import { EventFile } from ${JSON.stringify(join(root, 'core/exports/tensorboard.ts'))};
    const file = new EventFile(${JSON.stringify(folder)}, 0);
    for (let iteration = 1; ; iteration++) file.add({ iteration, time: 0, values: { a: 1, b: 2 } });`;
  const command = [process.execPath, '--input-type=module', '-e', script];
  expect(runWithin(512, command).errors).toContain('EFBIG');
  const [name] = readdirSync(folder);
  const [, ...points] = readEvents(readFileSync(join(folder, name!)));
  expect(points.length).toBeGreaterThan(3);
  expect(points.map(({ step }) => step)).toEqual(points.map((_, index) => index + 1));
});

test("serve --tensorboard doesn't write to the app's own folder", async () => {
  const folder = join(world.home, 'tensorboard');
  const { status, errors } = await starpoHere(['serve', '--port', '0', '--tensorboard', folder], world.environment());
  expect(status).toBe(2);
  expect(errors).toContain('details: usage_invalid');
});
