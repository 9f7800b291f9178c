import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ClusterJob } from '../../core/contract/cluster.ts';
import { runFolder } from '../../core/run-directory/names.ts';
import { makeIdle } from '../../core/run-library/busy.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { SimulatedCluster, whyNoCluster } from './fixtures/simulated-cluster.ts';
import { fakeTrainer, untilRun, World } from './fixtures/world.ts';

const problem = whyNoCluster();
const why = problem === null ? '' : ` (skipped: ${problem})`;
const set = { iterations: 2, 'rollout.groups': 1, 'rollout.group_size': 4, 'policy_loss.mini_batch': 4 };

describe.skipIf(problem !== null)(
  `a Slurm cluster of four simulated nodes with two GPUs${why}`,
  { timeout: 120_000 },
  () => {
    let scratch: World;
    let cluster: SimulatedCluster | undefined;
    let world: World;

    beforeAll(async () => {
      scratch = new World();
      cluster = await SimulatedCluster.start(join(scratch.folder, 'slurm'));
    }, 60_000);
    afterAll(async () => {
      await cluster?.stop();
      await scratch.close();
    });
    beforeEach(() => {
      world = new World();
      const slurm = { type: 'slurm', time: '10', cpus: 1, trainer: fakeTrainer };
      const targets = { slurm, nowhere: { ...slurm, partition: 'nowhere' }, huge: { ...slurm, cpus: 64 } };
      writeFileSync(join(world.home, 'targets.json'), JSON.stringify({ version: 1, targets }));
    });
    afterEach(async () => {
      vi.unstubAllEnvs();
      await world.close();
    });

    const slurm = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: 'utf8' });
    const open = async () => {
      const core = await world.core(fakeTrainer, { slurm: { interval: 0 } });
      const handlers = createHandlers(core);
      const jobs = () => handlers['cluster.jobs']({}) as Promise<ClusterJob[]>;
      const untilJob = (runId: string, expected: Partial<ClusterJob>) =>
        expect
          .poll(async () => (await jobs()).find(({ run }) => run === runId), { timeout: 40_000, interval: 200 })
          .toMatchObject(expected);
      const untilRunIs = (runId: string, expected: object) =>
        expect.poll(() => core.runs.get(runId), { timeout: 30_000, interval: 100 }).toMatchObject(expected);
      return {
        untilRunIs,
        core,
        handlers,
        jobs,
        untilJob,
        create: () => core.runs.create({ preset: 'starter-frozen-lake', set }),
      };
    };

    test('rejects a job that can never run', async () => {
      const { core, handlers, create } = await open();
      const runId = await create();
      for (const [target, message] of [
        ['nowhere', 'Invalid partition name specified.'],
        ['huge', 'Requested node configuration is not available.'],
      ] as const)
        await expect(handlers['cluster.submit']({ runId, target })).rejects.toMatchObject({
          code: 'slurm_refused',
          message: `Slurm rejected the request: ${message}`,
        });
      expect(await handlers['cluster.check']({ target: 'slurm' })).toMatchObject({
        answer: expect.stringMatching(/^A job could start at .* on n\d in partition gpu\.$/),
      });
      expect(await core.cluster.jobs.list([runId])).toEqual([]);
    });

    test('a run is submitted once, requeued at its time limit, resumed and followed to its end', async () => {
      // Trains one iteration, then waits; the second attempt resumes from the checkpoint and is not held.
      vi.stubEnv('FAKE_TRAINER_HOLD', '1');
      const { core, handlers, create, untilJob, untilRunIs } = await open();
      const runId = await create();
      core.queue.add(runId);
      const { job } = (await handlers['cluster.submit']({ runId, target: 'slurm' })) as { job: string };
      expect(core.queue.list()).toEqual([]);
      await untilRunIs(runId, { status: 'running', iteration: 1 });
      await untilJob(runId, {
        job,
        phase: 'running',
        text: expect.stringMatching(/^is running on n\d \(started /),
        attempts: 1,
      });
      await expect(handlers['cluster.submit']({ runId, target: 'slurm' })).rejects.toMatchObject({
        code: 'run_active',
      });
      // As Slurm does before the time limit.
      slurm('scancel', '--batch', '--signal=USR1', job);
      await untilJob(runId, { phase: 'pending', text: expect.stringContaining('was requeued and starts again at') });
      await untilRunIs(runId, { status: 'stopped', iteration: 1 });
      const again = [
        () => core.runs.start(runId),
        () => core.cluster.submit(runId, 'slurm'),
        () => makeIdle(core, runId),
      ];
      for (const refused of again) await expect(refused()).rejects.toMatchObject({ code: 'job_active' });
      // Slurm refuses it once the job runs, and forgets it if the attempt is still ending. In the second of the requeue, the node fails the job,
      // because it has just revoked its credential.
      const startNow = () => spawnSync('scontrol', ['update', `JobId=${job}`, 'StartTime=now']);
      const revoked = Date.now() + 2000;
      const started = () => {
        if (core.runs.get(runId).status === 'stopped' && Date.now() > revoked) startNow();
        return core.runs.get(runId);
      };
      await expect
        .poll(started, { timeout: 60_000, interval: 500 })
        .toMatchObject({ status: 'completed', iteration: 2 });
      await untilJob(runId, { phase: 'ended', text: 'ended', attempts: 2 });
      const attempts = readFileSync(join(runFolder(world.home, runId), 'attempts.jsonl'), 'utf8')
        .trimEnd()
        .split('\n');
      expect(attempts.map((line) => JSON.parse(line))).toMatchObject([
        { type: 'begin', job, restart: 0 },
        { type: 'end', code: 0 },
        { type: 'begin', job, restart: 1 },
        { type: 'end', code: 0 },
      ]);
    });

    test('a waiting job is held, released and canceled, and the run can be submitted again', async () => {
      vi.stubEnv('FAKE_TRAINER_HOLD', '1');
      const { core, handlers, create, untilJob } = await open();
      const runId = await create();
      const { job } = (await handlers['cluster.submit']({ runId, target: 'slurm' })) as { job: string };
      await untilJob(runId, { phase: 'running' });
      await handlers['cluster.act']({ runId, action: 'requeue' });
      await untilJob(runId, { phase: 'pending' });
      await handlers['cluster.act']({ runId, action: 'hold' });
      await untilJob(runId, { phase: 'pending', text: expect.stringMatching(/^is held/) });
      await handlers['cluster.nice']({ runId, nice: 100 });
      expect(slurm('scontrol', '-o', 'show', 'job', job)).toContain(' Nice=100 ');
      await handlers['cluster.act']({ runId, action: 'cancel' });
      await untilJob(runId, { phase: 'ended', text: 'was canceled' });
      await expect(core.cluster.refuseActive(runId)).resolves.toBeUndefined();
    });

    test('the runs of a sweep are an array of jobs over all nodes, each trained once', async () => {
      vi.stubEnv('FAKE_TRAINER_HOLD', '1');
      const { core, handlers } = await open();
      const points = [
        { name: 'a', set: {} },
        { name: 'b', set: { 'optimizer.learning_rate': 1e-4 } },
      ];
      const study = {
        name: 'Lakes',
        base: { preset: 'starter-frozen-lake' },
        set,
        points,
        seeds: [1, 2, 3, 4],
        start: false,
      };
      const { id: studyId } = (await handlers['studies.create'](study as never)) as { id: string };
      expect(await handlers['cluster.plan']({ target: 'slurm', jobs: { studyId } })).toMatchObject({
        runId: null,
        script: expect.stringContaining('#SBATCH --array=0-7\n'),
        price: { jobs: 8, hours: 8 / 6, unit: 'GPU' },
        start: expect.stringMatching(/^A job could start at /),
        problem: null,
      });
      const { job, count } = (await handlers['studies.submit']({ studyId, target: 'slurm' })) as {
        job: string;
        count: number;
      };
      expect(count).toBe(8);
      const runIds = core.runs.list().map(({ id }) => id);
      await Promise.all(runIds.map((runId) => untilRun(core, runId, ({ iteration }) => iteration === 1)));
      const running = (await handlers['cluster.jobs']({})) as ClusterJob[];
      expect(new Set(running.map(({ text }) => /running on (n\d)/.exec(text)?.[1]))).toEqual(
        new Set(['n1', 'n2', 'n3', 'n4']),
      );
      expect(running.map((each) => each.job).sort()).toEqual(
        Array.from({ length: 8 }, (_, index) => `${job}_${index}`),
      );
      await Promise.all(runIds.map((runId) => core.runs.command(runId, 'stop')));
      await Promise.all(runIds.map((runId) => untilRun(core, runId, ({ status }) => status === 'stopped')));
    });
  },
);
