import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { devicesFor } from '../../core/contract/run-facts.ts';
import type { Core } from '../../core/index.ts';
import { afterDeviceFailure } from '../../core/queue/device-failure.ts';
import { type Occupant, type PlacementFacts, type PoolDevice, place } from '../../core/queue/placement.ts';
import type { QueueContent } from '../../core/run-sync/queue-file.ts';
import { starpo } from './fixtures/child.ts';
import { untilRun, World } from './fixtures/world.ts';

const gb = 2 ** 30;

describe('placement', () => {
  const gpu = (index: number, freeBytes: number | null = 80 * gb): PoolDevice => {
    return { id: `cuda:${index}`, uuid: `GPU-${index}`, name: 'a GPU', memoryBytes: 80 * gb, freeBytes };
  };
  const cpu: PoolDevice = { id: 'cpu', uuid: null, name: 'a CPU', memoryBytes: 64 * gb, freeBytes: null };
  const facts = (devices: PoolDevice[], rest: Partial<PlacementFacts> = {}): PlacementFacts => {
    return { devices, aside: new Set(), occupants: [], share: false, cores: 16, ...rest };
  };
  const on = (index: number, rest: Partial<Occupant> = {}): Occupant => {
    const device = { id: `cuda:${index}`, uuid: `GPU-${index}` };
    return { run: `run-${index}`, device, loading: false, bytes: 20 * gb, ...rest };
  };
  const two = [cpu, gpu(0, 30 * gb), gpu(1, 50 * gb)];

  test.each<[string, string, number | null, PlacementFacts, string]>([
    ['auto takes the GPU with the most free memory', 'auto', 10 * gb, facts(two), 'cuda:1'],
    ['auto skips a busy GPU', 'auto', 10 * gb, facts(two, { occupants: [on(1)] }), 'cuda:0'],
    ['cuda never takes the CPU', 'cuda', null, facts([cpu]), 'unknown cuda'],
    ['auto takes the CPU of a machine without a GPU', 'auto', null, facts([cpu]), 'cpu'],
    [
      'auto does not replace a failed GPU by the CPU',
      'auto',
      null,
      facts([cpu, gpu(0)], { aside: new Set(['GPU-0']) }),
      'aside',
    ],
    ['the others replace a GPU that was set aside', 'auto', null, facts(two, { aside: new Set(['GPU-1']) }), 'cuda:0'],
    [
      'a GPU is recognized by its UUID, not its number',
      'auto',
      null,
      facts([gpu(0)], { occupants: [on(0, { device: { id: 'cuda:7', uuid: 'GPU-0' } })] }),
      'busy',
    ],
    [
      'a number alone identifies a GPU of an older trainer',
      'cuda:0',
      null,
      facts([gpu(0)], { occupants: [on(0, { device: { id: 'cuda:0' } })] }),
      'busy',
    ],
    ['one run per GPU', 'cuda', 10 * gb, facts([gpu(0)], { occupants: [on(0)] }), 'busy'],
    [
      'one run on the CPU, even if sharing is allowed',
      'cpu',
      null,
      facts([cpu], { share: true, occupants: [on(0, { device: { id: 'cpu' } })] }),
      'busy',
    ],
    [
      'runs share a GPU if allowed and their memory fits',
      'cuda',
      50 * gb,
      facts([gpu(0, 55 * gb)], { share: true, occupants: [on(0)] }),
      'cuda:0',
    ],
    [
      '95 % of the memory is the limit',
      'cuda',
      57 * gb,
      facts([gpu(0, 60 * gb)], { share: true, occupants: [on(0)] }),
      'busy',
    ],
    [
      'a run whose memory is unknown has a GPU alone',
      'cuda',
      null,
      facts([gpu(0)], { share: true, occupants: [on(0)] }),
      'busy',
    ],
    [
      'a loading run shares nothing, because its memory is not planned',
      'cuda',
      gb,
      facts([gpu(0)], { share: true, occupants: [on(0, { loading: true })] }),
      'busy',
    ],
    [
      'as many runs as there are CPU cores share a GPU',
      'cuda',
      gb,
      facts([gpu(0)], { share: true, cores: 3, occupants: [on(0), on(0)] }),
      'cuda:0',
    ],
    [
      'no more runs than CPU cores share a GPU',
      'cuda',
      gb,
      facts([gpu(0)], { share: true, cores: 2, occupants: [on(0), on(0)] }),
      'busy',
    ],
    ['an empty GPU is preferred to sharing', 'cuda', gb, facts(two, { share: true, occupants: [on(1)] }), 'cuda:0'],
    ['another program leaves too little memory', 'auto', 60 * gb, facts(two), 'memory'],
    ['an unused GPU is tried, because the need is an estimate', 'auto', 79 * gb, facts([gpu(0, 78 * gb)]), 'cuda:0'],
    ['free memory that is not known prevents nothing', 'auto', 10 * gb, facts([gpu(0, null)]), 'cuda:0'],
    ['a device that does not exist', 'cuda:5', null, facts(two), 'unknown cuda:5'],
    [
      'a run that selects its device is still loading',
      'auto',
      null,
      facts(two, { occupants: [on(0, { device: { id: 'auto' } })] }),
      'busy',
    ],
  ])('%s', (_, setting, bytes, given, expected) => {
    const placement = place(setting, bytes, given);
    const text =
      'device' in placement
        ? placement.device.id
        : 'unknown' in placement
          ? `unknown ${placement.unknown}`
          : placement.waits;
    expect(text).toBe(expected);
  });

  test('states why a run waits', () => {
    expect(place('auto', 60 * gb, facts(two))).toMatchObject({
      reason: 'Needs 64.42 GB of GPU memory: cuda:0 has 32.21 GB free, cuda:1 has 53.69 GB free.',
    });
    expect(place('auto', null, facts(two, { occupants: [on(0), on(1)] }))).toMatchObject({
      reason: 'Waits for a free GPU.',
    });
    expect(place('cuda', gb, facts([gpu(0)], { share: true, cores: 2, occupants: [on(0), on(0)] }))).toMatchObject({
      reason: 'Waits for cuda:0: GPUs are shared by at most 2 runs, one per CPU core.',
    });
    expect(place('cuda:0', null, facts(two, { aside: new Set(['GPU-0']) }))).toMatchObject({
      reason: 'Waits for cuda:0, set aside after a failure.',
    });
  });

  test('MIG slices and hidden GPUs are those that the trainer lists', () => {
    const slice = { ...gpu(0, 7 * gb), uuid: 'MIG-51ce' };
    expect(devicesFor('auto', [cpu, slice])).toEqual([slice]);
  });
});

describe('a device failure', () => {
  const problem = { code: 'gpu_failed', message: 'The GPU failed.', hint: 'Check it.' };
  const content = (failedOn?: string[]): QueueContent => ({
    version: 1,
    runs: [{ run: 'next', added: 1 }],
    started: [{ run: 'run', added: 1, device: { id: 'cuda:1', uuid: 'GPU-1' }, ...(failedOn && { failedOn }) }],
    aside: [{ id: 'cuda:0', uuid: 'GPU-0', name: 'a GPU', run: 'run', time: 1, problem }],
    share: false,
  });

  test('sets the device aside and puts the run first', () => {
    const queue = content();
    expect(afterDeviceFailure(queue, 'run', problem, () => 'a GPU', 5)).toMatchObject({ requeued: true });
    expect(queue.runs).toEqual([
      { run: 'run', added: 5, failedOn: ['GPU-1'] },
      { run: 'next', added: 1 },
    ]);
    expect(queue.aside.map(({ id }) => id)).toEqual(['cuda:0', 'cuda:1']);
    expect(queue.started).toEqual([]);
  });

  test('on a second device is the fault of the run', () => {
    const queue = content(['GPU-0']);
    expect(afterDeviceFailure(queue, 'run', problem, () => 'a GPU')).toMatchObject({
      requeued: false,
      message: expect.stringContaining('failed on cuda:0 and cuda:1'),
    });
    expect(queue).toMatchObject({ runs: [{ run: 'next' }], started: [], aside: [] });
  });

  test('of a run that the queue did not start changes nothing', () => {
    expect(afterDeviceFailure(content(), 'other', problem, () => '')).toBeNull();
  });
});

describe('a pool of four simulated GPUs', { timeout: 120_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await world.close();
  });

  /** Returns the starts of a run (device) and its ends, from its journal. */
  const journal = (core: Core, runId: string) =>
    readFileSync(join(core.runs.folder(runId), 'events.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  const queueFile = (): QueueContent => JSON.parse(readFileSync(join(world.home, 'queue.json'), 'utf8'));
  const live = (core: Core) => core.runs.list().filter(({ status }) => status === 'running');

  test('keeps every device busy through a failed device, a canceled run and a killed app; loses no run and starts none twice', async () => {
    const fake = { GPU: String(80 * gb), GPUS: '4', HOLD: '1,2', BROKEN: 'cuda:2' };
    for (const [name, value] of Object.entries(fake)) vi.stubEnv(`FAKE_TRAINER_${name}`, value);
    const set = {
      iterations: 2,
      'rollout.groups': 1,
      'rollout.group_size': 4,
      'policy_loss.mini_batch': 4,
      device: 'auto',
    };
    const first = await world.core();
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) ids.push(await first.runs.create({ preset: 'starter-frozen-lake', set }));
    for (const id of ids) first.queue.add(id);
    await first.dispose();

    const app = starpo(['queue', 'run'], world.environment());
    await expect
      .poll(() => ({ aside: queueFile().aside.map(({ id }) => id), started: queueFile().started.length }), {
        timeout: 60_000,
      })
      .toEqual({ aside: ['cuda:2'], started: 3 });
    const [broken] = queueFile().runs;
    expect(broken).toMatchObject({ run: ids[2], failedOn: ['GPU-2'] });
    app.kill('SIGKILL');
    await app.finished;

    const core = await world.core(undefined, { worksQueue: true });
    expect(
      live(core)
        .map(({ machine }) => machine!.device)
        .sort(),
    ).toEqual(['cuda:0', 'cuda:1', 'cuda:3']);
    const canceled = ids[7]!;
    core.queue.remove(canceled);
    for (let waiting = core.queue.list().length; ; ) {
      await core.queue.settled();
      expect(core.queue.list()).toHaveLength(waiting);
      expect(new Set(live(core).map(({ machine }) => machine!.device))).toEqual(
        new Set(['cuda:0', 'cuda:1', 'cuda:3']),
      );
      if (waiting === 0) break;
      const ending = live(core)[0]!;
      const next = core.queue.list()[0]!;
      await core.runs.command(ending.id, 'stop');
      // The freed device takes the next run.
      expect(await untilRun(core, next, ({ status }) => status === 'running')).toMatchObject({
        machine: { device: ending.machine!.device },
      });
      waiting -= 1;
    }
    for (const { id } of live(core)) {
      await core.runs.command(id, 'stop');
      await untilRun(core, id, ({ status }) => status === 'stopped');
    }

    const trained = ids.filter((id) => id !== canceled);
    const starts = trained.map((id) => journal(core, id).filter(({ type }) => type === 'started').length);
    expect(starts).toEqual(trained.map((id) => (id === broken!.run ? 2 : 1)));
    expect(core.runs.get(canceled)).toMatchObject({ status: 'created', startedAt: null });
    expect(await core.queue.pool.list()).toMatchObject([
      { id: 'cpu', problem: null },
      { id: 'cuda:0', problem: null },
      { id: 'cuda:1', problem: null },
      { id: 'cuda:2', problem: { code: 'gpu_failed' }, aside: { run: broken!.run } },
      { id: 'cuda:3', problem: null },
    ]);
    expect(queueFile()).toMatchObject({ runs: [], started: [] });
  });

  test('the queue starts runs that can share a GPU', async () => {
    const parts = [{ name: 'policy', lifetime: 'run', bytes: gb }];
    const plan = { device: 'cuda:0', device_bytes: 80 * gb, free_bytes: 80 * gb, total_bytes: gb, parts };
    const fake = { GPU: String(80 * gb), HOLD: '1,2', EVENT: JSON.stringify({ type: 'memory_plan', ...plan }) };
    for (const [name, value] of Object.entries(fake)) vi.stubEnv(`FAKE_TRAINER_${name}`, value);
    const core = await world.core();
    const set = { iterations: 4, device: 'cuda', 'checkpoint.every': 1 };
    const ids: string[] = [];
    const stop = async (id: string) => {
      await core.runs.command(id, 'stop');
      await untilRun(core, id, ({ status }) => status === 'stopped');
    };
    // Starts each once, after which its memory is known.
    for (let i = 0; i < 2; i++) {
      const id = await core.runs.create({ preset: 'starter-bandit', set });
      await core.runs.start(id);
      await untilRun(core, id, ({ iteration }) => iteration === 1);
      await stop(id);
      ids.push(id);
    }
    for (const id of ids) core.queue.add(id);
    core.queue.setShare(true);
    core.queue.work();
    for (const id of ids)
      expect(await untilRun(core, id, ({ status }) => status === 'running')).toMatchObject({
        machine: { device: 'cuda:0' },
      });
    for (const id of ids) await stop(id);
  });

  test('each MIG slice that CUDA_VISIBLE_DEVICES allows is a device, which its trainer selects by UUID', async () => {
    const fake = { GPU: String(10 * gb), GPUS: '3', SLICES: '1', HOLD: '1' };
    for (const [name, value] of Object.entries(fake)) vi.stubEnv(`FAKE_TRAINER_${name}`, value);
    vi.stubEnv('CUDA_VISIBLE_DEVICES', 'MIG-1,MIG-2');
    const core = await world.core(undefined, { worksQueue: true });
    const set = { iterations: 2, 'rollout.groups': 1, 'rollout.group_size': 4, 'policy_loss.mini_batch': 4 };
    const create = (device: string) => core.runs.create({ preset: 'starter-frozen-lake', set: { ...set, device } });
    const numbered = await create('cuda:1');
    await core.runs.start(numbered);
    const [auto, waiting] = [await create('auto'), await create('auto')];
    for (const runId of [auto, waiting]) core.queue.add(runId);
    const running = await untilRun(core, auto, ({ status }) => status === 'running');
    expect([core.runs.get(numbered), running].map(({ machine }) => machine)).toMatchObject([
      { device: 'cuda:0', uuid: 'MIG-2' },
      { device: 'cuda:0', uuid: 'MIG-1' },
    ]);
    await core.queue.settled();
    expect(core.queue.reasons()).toEqual({ [waiting]: 'Waits for a free GPU.' });
    core.queue.remove(waiting);
    for (const runId of [numbered, auto]) {
      await core.runs.command(runId, 'stop');
      await untilRun(core, runId, ({ status }) => status === 'stopped');
    }
  });
});
