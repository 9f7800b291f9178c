import { priceInWords } from '../cluster/price.ts';
import { describeTarget } from '../cluster/targets.ts';
import type { JobAction } from '../contract/cluster.ts';
import type { Output } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { isLive } from '../contract/run-facts.ts';
import type { Core } from '../index.ts';

/** Returns the targets, and why their file is invalid. */
export function clusterTargets({ cluster }: Core): Output<'cluster.targets'> {
  try {
    const targets = Object.entries(cluster.targets.read());
    return { targets: targets.map(([name, target]) => ({ name, summary: describeTarget(target) })), problem: null };
  } catch (error) {
    return { targets: [], problem: asFailure(error).toApiError() };
  }
}

/** Sends a run to a cluster and removes it from the queue. Throws `run_active`, an error of `requireStartable`, or as `Cluster.submit` does. */
export async function sendRun(
  { cluster, jobPoller, queue, runs }: Core,
  runId: string,
  target: string,
): Promise<Output<'cluster.submit'>> {
  // Otherwise the queue might start it at the same time.
  return queue.whileHeld(async () => {
    if (isLive(runs.get(runId).status) || runs.isLoading(runId))
      throw new Failure('run_active', `Run ${runId} is already running.`, 'Send another run.');
    runs.requireStartable(runId);
    const job = await cluster.submit(runId, target);
    jobPoller.changed([runId]);
    if (queue.list().includes(runId)) queue.remove(runId);
    return { job };
  });
}

/** Returns the script and the price of sending a sweep. */
export async function studyScript(
  { cluster, studies, times }: Core,
  studyId: string,
  target: string,
): Promise<Output<'studies.script'>> {
  const runIds = await studies.startable(studyId);
  const { seconds = null } = times.estimator()(studies.config(studyId)) ?? {};
  const price = priceInWords(runIds.length, cluster.targets.get(target), seconds);
  return { script: cluster.studyScript(studyId, runIds, target), price };
}

/** Sends the runs of a sweep. Throws as {@link sendRun} does. */
export async function sendStudy(
  { cluster, jobPoller, runs, studies }: Core,
  studyId: string,
  target: string,
): Promise<Output<'studies.send'>> {
  // Refuses an invalid target before runs are created.
  cluster.targets.get(target);
  const runIds = await studies.startable(studyId, { create: true });
  for (const runId of runIds) runs.requireStartable(runId);
  const job = await cluster.submitStudy(studyId, runIds, target);
  jobPoller.changed(runIds);
  return { job, count: runIds.length };
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
