import { expect, test, vi } from 'vitest';
import { Cluster } from '../../core/cluster/cluster.ts';
import { writeJobFile } from '../../core/cluster/job-file.ts';
import { JobPoller } from '../../core/cluster/job-poller.ts';
import { type runSlurm, slurmFailure } from '../../core/cluster/slurm.ts';
import type { ClusterJob } from '../../core/contract/cluster.ts';
import type { RunJob } from '../../core/contract/contract.ts';
import type { Core } from '../../core/index.ts';
import { submitRun } from '../../core/server/cluster.ts';
import { clusterWith } from './fixtures/cluster-with.ts';
import { World } from './fixtures/world.ts';

/** Follows the job of the run `a`, and collects the phases that are published. */
function followJob(cluster: Cluster, world: World, interval: number) {
  const jobs = new Map<string, RunJob>();
  const phases: string[] = [];
  const poller = new JobPoller({
    ...{ home: world.home, states: cluster.jobs, jobs, slurm: { interval } },
    supervisor: {
      publishSummaries: () => {
        const { phase, held } = jobs.get('a')!;
        phases.push(held ? `${phase}, held` : phase);
      },
    },
    log: (message) => expect.fail(message),
  });
  return { poller, phases };
}

test('jobs are followed until they can no longer be requeued, and changes are published in summaries', async () => {
  const world = new World();
  const running = '4|RUNNING|None|2026-11-26T09:06:50|n1|2026-11-26T09:11:50|0\n';
  const requeued = '4|PENDING|BeginTime|2026-11-26T09:20:00||N/A|0\n';
  const held = '4|PENDING|JobHeldUser|N/A||N/A|0\n';
  let queued = '4|PENDING|Resources|N/A||N/A|0\n';
  const interval = 15_000;
  const { calls, cluster } = clusterWith(
    world,
    (program, args) => {
      if (program === 'squeue') return queued;
      return args.includes('show') ? 'JobId=4 JobState=COMPLETED Reason=None ExitCode=0:0' : '';
    },
    interval,
  );
  writeJobFile(world.run('a'), { target: 'slurm', job: '4', submitted: 1 });
  const { poller, phases } = followJob(cluster, world, interval);
  const published = (count: number) => vi.waitUntil(() => phases.length === count, { timeout: 10_000 });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  try {
    poller.changed(['a']);
    expect(phases).toEqual([]);
    poller.work();
    await published(1);
    // A job that the user has changed is read again soon, because Slurm takes a moment.
    queued = running;
    poller.changed(['a']);
    await vi.advanceTimersByTimeAsync(3000);
    await published(2);
    // The job ends and is requeued, held and canceled outside the app.
    for (const [index, state] of ['', requeued, held, ''].entries()) {
      queued = state;
      await vi.advanceTimersByTimeAsync(interval);
      await published(3 + index);
    }
    expect(phases).toEqual(['pending', 'running', 'ended', 'pending', 'pending, held', 'ended']);
    const requests = () => calls.filter(({ program }) => program === 'squeue').length;
    // Each read sends a request, because cached answers have expired.
    expect(requests()).toBe(6);
    await vi.advanceTimersByTimeAsync(60 * interval);
    const whileRequeueable = requests();
    expect(whileRequeueable).toBeGreaterThan(6);
    await vi.advanceTimersByTimeAsync(10 * interval);
    expect(requests()).toBe(whileRequeueable);
  } finally {
    vi.useRealTimers();
  }
  await poller.close();
  await world.close();
});

test('a run that is submitted again while its ended job is read is still followed', async () => {
  const jobs = new Map<string, RunJob>();
  const phases: (string | undefined)[] = [];
  const [asked, first] = [Promise.withResolvers<void>(), Promise.withResolvers<'ended'>()];
  const answers = [first.promise, 'pending', 'running'] as const;
  let reads = 0;
  const list = async () => {
    asked.resolve();
    const phase = await answers[Math.min(reads++, 2)];
    return [{ run: 'a', phase } as ClusterJob];
  };
  const poller = new JobPoller({
    ...{ home: '/nowhere', states: { list, expire: () => {}, close: () => {} }, jobs, slurm: { interval: 0 } },
    supervisor: { publishSummaries: () => phases.push(jobs.get('a')?.phase) },
    log: (message) => expect.fail(message),
  });
  poller.work();
  poller.changed(['a']);
  await asked.promise;
  poller.changed(['a']);
  first.resolve('ended');
  // The state of the earlier job is not published.
  await vi.waitUntil(() => phases.length === 2);
  expect(phases).toEqual(['pending', 'running']);
  await poller.close();
});

test('a run is followed although the answer to its submission was lost', async () => {
  const lost = slurmFailure('sbatch', { code: 1, message: '' }, 'Socket timed out');
  const changed = vi.fn();
  const core = {
    cluster: { submit: () => Promise.reject(lost) },
    jobPoller: { changed },
    queue: { whileHeld: (work: () => Promise<unknown>) => work() },
    runs: { get: () => ({ status: 'created' }), isLoading: () => false, requireStartable: () => {} },
  } as unknown as Core;
  await expect(submitRun(core, 'a', 'slurm')).rejects.toBe(lost);
  expect(changed).toHaveBeenCalledWith(['a']);
});

test('a request that Slurm does not answer is canceled when the app closes', async () => {
  const world = new World();
  const asked = Promise.withResolvers<void>();
  const run: typeof runSlurm = (_, __, { signal } = {}) =>
    new Promise((_, reject) => {
      signal!.addEventListener('abort', () => reject(new Error('aborted')));
      asked.resolve();
    });
  const cluster = new Cluster({ home: world.home, trainer: { path: '/trainer', variables: {} }, slurm: { run } });
  writeJobFile(world.run('a'), { target: 'slurm', job: '4', submitted: 1 });
  const { poller, phases } = followJob(cluster, world, 15_000);
  poller.work();
  await asked.promise;
  await poller.close();
  // Its state is not published as unknown.
  expect(phases).toEqual([]);
  await world.close();
});
