import type { ShownScript } from '../cluster/cluster.ts';
import { priceOf } from '../cluster/price.ts';
import { describeTarget } from '../cluster/targets.ts';
import type { JobAction, PlannedJobs } from '../contract/cluster.ts';
import type { Output } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { isLive } from '../contract/run-facts.ts';
import type { Core } from '../index.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { validateConfig } from '../run-config/validate.ts';
import { newRunId } from '../run-directory/names.ts';
import { plainConfig } from '../runs/create-run.ts';

/** Returns the targets, and why their file is invalid. */
export function clusterTargets({ cluster }: Core): Output<'cluster.targets'> {
  try {
    const targets = Object.entries(cluster.targets.read());
    return {
      targets: targets.map(([name, settings]) => ({ name, settings, summary: describeTarget(settings) })),
      problem: null,
    };
  } catch (error) {
    return { targets: [], problem: asFailure(error).toApiError() };
  }
}

/** Submits a run to a cluster and removes it from the queue. Throws `run_active`, an error of `requireStartable`, or as `Cluster.submit` does. */
export async function submitRun(
  core: Core,
  runId: string,
  target: string,
  shown?: ShownScript,
): Promise<Output<'cluster.submit'>> {
  const { cluster, queue } = core;
  // Otherwise the queue might start it at the same time.
  return queue.whileHeld(async () => {
    requireSubmittable(core, runId);
    const job = await followed(core, [runId], cluster.submit(runId, target, shown));
    if (queue.list().includes(runId)) queue.remove(runId);
    return { job };
  });
}

function requireSubmittable({ runs }: Core, runId: string): void {
  if (isLive(runs.get(runId).status) || runs.isLoading(runId))
    throw new Failure('run_active', `Run ${runId} is running or paused.`, 'Submit another run.');
  runs.requireStartable(runId);
}

/** Follows the jobs of runs that are being submitted, even if that fails: without its answer, Slurm may have accepted them. */
const followed = ({ jobPoller }: Core, runIds: readonly string[], submission: Promise<string>): Promise<string> =>
  submission.finally(() => jobPoller.changed(runIds));

/** Returns the script, the price and the possible start of jobs. */
export async function planJobs(core: Core, target: string, jobs: PlannedJobs): Promise<Output<'cluster.plan'>> {
  const { cluster } = core;
  const settings = cluster.targets.get(target);
  const { runId = null, script, count, seconds } = await describeJobs(core, target, jobs);
  const price = priceOf(count, settings, seconds, 'studyId' in jobs);
  const test = async () => {
    if ('runIds' in jobs) for (const each of jobs.runIds) await cluster.refuseActive(each);
    return cluster.test(script);
  };
  const answer = await test().then(
    (start) => ({ start, problem: null }),
    (error) => ({ start: null, problem: asFailure(error).toApiError() }),
  );
  return { runId, script, price, ...answer };
}

interface JobFacts {
  /** The id of a new run. */
  runId?: string;
  /** The script of the first run, or of the array. */
  script: string;
  /** Number of jobs. */
  count: number;
  /** Training time of a run on this machine; null if unknown. */
  seconds: number | null;
}

async function describeJobs(
  { cluster, home, runs, studies, times }: Core,
  target: string,
  jobs: PlannedJobs,
): Promise<JobFacts> {
  const estimate = times.estimator();
  const secondsOf = (config: RunConfig) => estimate(config)?.seconds ?? null;
  if ('newRun' in jobs) {
    const config = plainConfig(home, jobs.newRun);
    const runId = newRunId(config.preset);
    return { runId, script: cluster.script(runId, target), count: 1, seconds: secondsOf(config) };
  }
  if ('studyId' in jobs) {
    const { studyId } = jobs;
    const runIds = await studies.startable(studyId);
    const script = cluster.studyScript(studyId, runIds, target);
    return { script, count: runIds.length, seconds: secondsOf(studies.config(studyId)) };
  }
  const [first] = jobs.runIds;
  const { iteration, iterations } = runs.get(first!);
  const whole = secondsOf(validateConfig(await runs.config(first!)));
  const seconds = whole === null ? null : whole * (1 - iteration / iterations);
  return { script: cluster.script(first!, target), count: jobs.runIds.length, seconds };
}

/** Submits the runs of a sweep. Throws as {@link submitRun} does. */
export async function submitStudy(
  core: Core,
  studyId: string,
  target: string,
  script?: string,
): Promise<Output<'studies.submit'>> {
  const { cluster, queue, studies } = core;
  // Refuses an invalid target before runs are created.
  cluster.targets.get(target);
  const runIds = await studies.startable(studyId, { create: true });
  return queue.whileHeld(async () => {
    for (const runId of runIds) requireSubmittable(core, runId);
    const job = await followed(core, runIds, cluster.submitStudy(studyId, runIds, target, script));
    return { job, count: runIds.length };
  });
}

/** Throws as `Cluster.act` does. */
export async function actOnJob({ cluster, jobPoller, runs }: Core, runId: string, action: JobAction): Promise<void> {
  await cluster.act(runs.require(runId), action);
  jobPoller.changed([runId]);
}

/** Throws as `Cluster.setNice` does. */
export async function setNice({ cluster, jobPoller, runs }: Core, runId: string, nice: number): Promise<void> {
  await cluster.setNice(runs.require(runId), nice);
  jobPoller.changed([runId]);
}
