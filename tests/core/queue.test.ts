import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Failure } from '../../core/contract/failure.ts';
import type { Core } from '../../core/index.ts';
import { configVersion } from '../../core/run-config/upgrade.ts';
import { makeIdle } from '../../core/run-library/busy.ts';
import { starpo } from './fixtures/child.ts';
import { starpoHere } from './fixtures/command.ts';
import { fakeTrainer, untilRun, World } from './fixtures/world.ts';

const small = {
  iterations: 2,
  'rollout.groups': 1,
  'rollout.group_size': 4,
  'policy_loss.mini_batch': 4,
};

describe('the queue', { timeout: 300_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await world.close();
  });
  const create = (core: Core) => core.runs.create({ preset: 'starter-frozen-lake', set: small });
  const workingCore = () => world.core(undefined, { worksQueue: true });
  const file = () => join(world.home, 'queue.json');
  const status = (core: Core, runId: string) => core.runs.get(runId).status;
  const untilStatus = (core: Core, runId: string, expected: string) =>
    untilRun(core, runId, ({ status }) => status === expected);

  test('starts one run after another in the requested order', async () => {
    vi.stubEnv('FAKE_TRAINER_HOLD', '1');
    const core = await workingCore();
    const [manual, second, third] = [await create(core), await create(core), await create(core)];
    await core.runs.start(manual);
    expect(core.queue.add(second)).toBe(1);
    expect(core.queue.add(third)).toBe(2);
    expect(core.queue.add(third)).toBe(2);
    expect(core.runs.get(third)).toMatchObject({ status: 'queued', queuePosition: 2 });
    expect(core.queue.move(third, 1)).toBe(1);
    await core.runs.command(manual, 'stop');
    await untilStatus(core, third, 'running');
    expect(status(core, manual)).toBe('stopped');
    expect(core.runs.get(third).queuePosition).toBeNull();
    expect(await untilRun(core, second, (run) => run.queuePosition === 1)).toMatchObject({
      status: 'queued',
    });
    expect(() => core.queue.move(third, 1)).toThrow(expect.objectContaining({ code: 'run_not_queued' }));
    expect(() => core.queue.add(third)).toThrow(expect.objectContaining({ code: 'run_active' }));
    await core.runs.command(third, 'pause');
    expect(status(core, second)).toBe('queued');
    await core.runs.command(third, 'stop');
    await untilStatus(core, second, 'running');
    await core.runs.command(second, 'stop');
  });

  /** Replaces run.json by one of a newer version, which the queue notices only when it starts the run. */
  function makeNewer(core: Core, runId: string): void {
    const path = join(core.runs.folder(runId), 'run.json');
    const config = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...config, version: configVersion + 1 }));
  }

  test("continues after a run that can't be started, and stores the reason", async () => {
    const core = await workingCore();
    const [broken, next] = [await create(core), await create(core)];
    core.queue.add(broken);
    makeNewer(core, broken);
    core.queue.add(next);
    await untilStatus(core, next, 'completed');
    expect(core.runs.get(broken)).toMatchObject({
      status: 'created',
      queuePosition: null,
      failure: { code: 'config_version_unsupported', hint: expect.stringMatching(/./) },
    });
    await untilRun(core, next, () => core.queue.list().length === 0);
  });

  test('survives a restart and the loss of the run history', async () => {
    const first = await world.core();
    const [a, b, c] = [await create(first), await create(first), await create(first)];
    for (const runId of [a, b, c]) first.queue.add(runId);
    first.queue.move(c, 1);
    first.queue.remove(b);
    await first.dispose();
    world.deleteHistory();
    const second = await workingCore();
    expect(second.runs.get(b)).toMatchObject({ status: 'created', queuePosition: null });
    await untilStatus(second, a, 'completed');
    const times = [c, a].map((runId) => second.runs.get(runId).startedAt!);
    expect(times[0]).toBeLessThan(times[1]!);
    await untilRun(second, a, () => second.queue.list().length === 0);
  });

  test('starts the run that a killed process had claimed, and drops the runs that it had started', async () => {
    const core = await world.core();
    const [started, claimed] = [await create(core), await create(core)];
    const added = Date.now() - 1000;
    await core.runs.start(started);
    await untilStatus(core, started, 'completed');
    const entry = (run: string) => ({ run, added });
    writeFileSync(file(), JSON.stringify({ version: 1, runs: [entry(started), entry(claimed), entry('deleted')] }));
    core.queue.work();
    await untilStatus(core, claimed, 'completed');
    await untilRun(core, claimed, () => core.queue.list().length === 0);
  });

  test('keeps all runs if the trainer is missing, and reports it', async () => {
    const core = await world.core(join(world.folder, 'nowhere'));
    const runId = await create(core);
    core.queue.add(runId);
    const logged = new Promise<void>((resolve) => {
      vi.spyOn(world.logged, 'push').mockImplementation(() => {
        resolve();
        return 0;
      });
    });
    core.queue.work();
    await logged;
    expect(core.queue.problem()).toMatchObject({ code: 'trainer_missing' });
    expect(core.runs.get(runId)).toMatchObject({ status: 'queued', queuePosition: 1, failure: null });
    core.queue.remove(runId);
    expect(core.queue.problem()).toBeNull();
  });

  test('`starpo queue run` fails with the reason if the trainer is missing', async () => {
    const core = await world.core();
    core.queue.add(await create(core));
    await core.dispose();
    const missing = { STARPO_TRAINER: join(world.folder, 'nowhere') };
    const { status, errors } = await starpoHere(['queue', 'run'], world.environment(missing));
    expect({ status, errors }).toMatchObject({
      status: 1,
      errors: expect.stringContaining('trainer_missing'),
    });
  });

  test('`starpo queue run` waits neither for a paused run nor for one that was never queued', async () => {
    vi.stubEnv('FAKE_TRAINER_HOLD', '1');
    const core = await world.core();
    const [paused, own] = [await create(core), await create(core)];
    for (const run of [paused, own]) {
      await core.runs.start(run);
      await untilRun(core, run, ({ iteration }) => iteration === 1);
    }
    await core.runs.command(paused, 'pause');
    await untilStatus(core, paused, 'paused');
    await core.dispose();
    expect(await starpoHere(['queue', 'run'], world.environment())).toMatchObject({ status: 0, errors: '' });
    expect(status(await world.core(), own)).toBe('running');
  });

  test('`starpo queue run` exits with the status of its signal', async () => {
    const core = await world.core();
    core.queue.add(await create(core));
    await core.dispose();
    const command = starpo(['queue', 'run'], world.environment({ FAKE_TRAINER_HOLD: '1' }));
    await once(command.process.stdout!, 'data');
    expect(await command.kill('SIGTERM')).toMatchObject({ status: 143 });
  });

  test("waits if a run's failure can't be written", async () => {
    const core = await world.core();
    const broken = await create(core);
    vi.spyOn(core.annotations, 'add').mockImplementation(() => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    });
    core.queue.add(broken);
    makeNewer(core, broken);
    const logged = new Promise<void>((resolve) => {
      vi.spyOn(world.logged, 'push').mockImplementation((text) => {
        if (text.startsWith('The queue is blocked')) resolve();
        return 0;
      });
    });
    core.queue.work();
    await logged;
    expect(core.queue.problem()).toMatchObject({ code: 'disk_full' });
    expect(JSON.parse(readFileSync(file(), 'utf8')).runs).toMatchObject([{ run: broken }]);
  });

  test('starts a queued run that was started manually, ended and queued again', async () => {
    const core = await world.core();
    const runId = await create(core);
    core.queue.add(runId);
    vi.stubEnv('FAKE_TRAINER_HOLD', '1');
    await core.runs.start(runId);
    await core.runs.command(runId, 'stop');
    await untilRun(core, runId, (run) => run.status !== 'running');
    vi.unstubAllEnvs();
    core.queue.add(runId);
    core.queue.work();
    await untilStatus(core, runId, 'completed');
  });

  test('does not use a device while a manually started run is still loading', async () => {
    const release = join(world.folder, 'release');
    const loading = join(world.folder, 'loading');
    const slow = join(world.folder, 'slow-trainer');
    execFileSync('mkfifo', [release]);
    // The first training waits until the test writes to the pipe.
    const waits = `if [ "$1" = train ] && [ ! -e '${loading}' ]; then : > '${loading}'; read -r _ < '${release}'; fi`;
    writeFileSync(slow, `#!/bin/sh\n${waits}\nexec '${fakeTrainer}' "$@"\n`);
    chmodSync(slow, 0o755);
    const core = await world.core(slow, { worksQueue: true });
    const [manual, waiting] = [await create(core), await create(core)];
    const started = core.runs.start(manual);
    await expect.poll(() => existsSync(loading)).toBe(true);
    core.queue.add(waiting);
    await core.queue.settled();
    expect(status(core, manual)).toBe('created');
    expect(status(core, waiting)).toBe('queued');
    await expect(makeIdle(core, manual)).rejects.toMatchObject({ code: 'run_active' });
    writeFileSync(release, '\n');
    await started;
    await untilStatus(core, waiting, 'completed');
  });

  test('retries a run whose previous trainer is still exiting', async () => {
    const core = await world.core();
    const runId = await create(core);
    core.queue.add(runId);
    vi.spyOn(core.runs, 'start').mockRejectedValueOnce(new Failure('run_active', 'It is ending.', 'Wait.'));
    core.queue.work();
    await untilStatus(core, runId, 'completed');
    await untilRun(core, runId, () => core.queue.list().length === 0);
  });

  test('drops a run that is started manually, even if no process works the queue', async () => {
    vi.stubEnv('FAKE_TRAINER_HOLD', '1');
    const core = await world.core();
    const [runId, other] = [await create(core), await create(core)];
    core.queue.add(runId);
    core.queue.add(other);
    await core.runs.start(runId);
    await untilRun(core, other, ({ queuePosition }) => queuePosition === 1);
    await untilRun(core, runId, ({ iteration }) => iteration === 1);
    await core.runs.command(runId, 'stop');
    expect(await untilStatus(core, runId, 'stopped')).toMatchObject({ iteration: 1, queuePosition: null });
  });

  test('drops a run that a trainer completed while no process used the folder', async () => {
    const core = await world.core();
    const [runId, other] = [await create(core), await create(core)];
    core.queue.add(runId);
    core.queue.add(other);
    const folder = core.runs.folder(runId);
    await core.dispose();
    execFileSync(fakeTrainer, ['train', folder]);
    const reopened = await world.core();
    await untilRun(reopened, other, ({ queuePosition }) => queuePosition === 1);
    expect(reopened.queue.list()).toEqual([other]);
    expect(reopened.runs.get(runId)).toMatchObject({ status: 'completed', queuePosition: null });
  });

  test('sets a damaged file aside', async () => {
    writeFileSync(file(), '{"version":1,"runs":[');
    const core = await world.core();
    expect(core.queue.list()).toEqual([]);
    core.queue.add(await create(core));
    expect(readFileSync(`${file()}.damaged`, 'utf8')).toBe('{"version":1,"runs":[');
    expect(JSON.parse(readFileSync(file(), 'utf8')).runs).toHaveLength(1);
  });

  test('is worked by the CLI', async () => {
    const run = (...args: string[]) => starpoHere(args, world.environment());
    const set = Object.entries(small).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    const added = [];
    for (const preset of ['starter-bandit', 'starter-frozen-lake']) {
      const { output } = await run('train', preset, '--queue', '--json', ...set);
      added.push(JSON.parse(output));
    }
    expect(added.map(({ position }) => position)).toEqual([1, 2]);
    const [first, second] = added.map((each) => each.run);
    expect(existsSync(join(added[0].folder, 'events.jsonl'))).toBe(false);
    expect((await run('queue', 'move', second, '1')).output).toContain('position 1');
    const listed = JSON.parse((await run('queue', '--json')).output);
    expect(listed.runs.map((each: { id: string }) => each.id)).toEqual([second, first]);
    expect(await run('queue', 'remove', first)).toMatchObject({ status: 0 });
    expect(await run('queue', 'add', first)).toMatchObject({
      status: 0,
      output: expect.stringContaining('starpo queue run'),
    });
    const following = starpo(['logs', second, '--follow'], world.environment());
    const [waiting] = await once(following.process.stderr!, 'data');
    expect(String(waiting)).toMatch(
      new RegExp(`^${second} is at position 1 in the queue; waiting for it to start. .*starpo queue run`),
    );
    const { status: code, output } = await run('queue', 'run');
    expect(code).toBe(0);
    expect(output.match(/\S+ {2}completed/g)).toEqual([`${second}  completed`, `${first}  completed`]);
    expect(output).not.toContain('empty');
    expect(await following.finished).toMatchObject({
      status: 0,
      output: expect.stringMatching(/Completed after iteration/),
    });
    const empty = 'The queue is empty. Add a run with `starpo train PRESET --queue`.';
    expect(await run('queue', 'run')).toMatchObject({ status: 0, output: empty, errors: '' });
  });
});
