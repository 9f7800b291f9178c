import { createInterface } from 'node:readline/promises';
import type { ClusterJob, JobAction, JobPrice } from '../../contract/cluster.ts';
import type { JobAttempt, Output } from '../../contract/contract.ts';
import { Failure } from '../../contract/failure.ts';
import { count } from '../../contract/numbers.ts';
import { advise, durationText, print, table } from '../output.ts';
import { resolveRun, resolveSource, resolveStudy } from '../run-reference.ts';
import type { NewRunOptions } from './new.ts';
import { type CommandOptions, withClient, withRun } from './with-client.ts';

/** A cluster for runs. */
export interface OnCluster {
  on: string;
  /** Whether to submit without confirmation. */
  yes?: boolean;
}

export async function listTargets({ home, json }: CommandOptions): Promise<void> {
  const { targets, problem } = await withClient(home, (client) => client.call('cluster.targets', {}), {
    repeatable: true,
  });
  if (problem) throw new Failure(problem.code, problem.message, problem.hint);
  if (json) return print(JSON.stringify(targets, null, 2));
  if (targets.length === 0)
    return advise('No targets. Add one to targets.json in the data folder (docs/formats/targets.md).');
  print(table(targets.map(({ name, summary }) => [name, summary])));
}

/** Prints whether and when a job on a target could start. */
export async function checkTarget(target: string, { home }: CommandOptions): Promise<void> {
  const check = await withClient(home, (client) => client.call('cluster.check', { target }), { repeatable: true });
  print(check.answer);
}

export async function printScript(named: string, { home, on: target }: CommandOptions & OnCluster): Promise<void> {
  await withRun(home, named, async (client, runId) => {
    print((await client.call('cluster.script', { runId, target })).script.trimEnd());
  });
}

/** Prints the script of a new run, then creates the run and submits it. */
export async function trainOn({
  home,
  json,
  source,
  set,
  marks,
  ...on
}: NewRunOptions & OnCluster & { json: boolean }): Promise<void> {
  const { on: target } = on;
  await withClient(home, async (client) => {
    const made = await resolveSource(client, source);
    const plan = json ? null : await client.call('cluster.plan', { target, jobs: { newRun: { ...made, set } } });
    if (plan && !(await confirmed(plan, on))) return;
    const id = plan?.runId ?? undefined;
    const created = { ...made, id, set, ...marks, start: false, startable: true };
    const { runId } = await client.call('runs.create', created);
    const { folder } = await client.call('runs.get', { runId });
    if (!json) print(`run ${runId}\n  in ${folder}`);
    const { job } = await client.call('cluster.submit', { runId, target, script: plan?.script });
    if (json) return print(JSON.stringify({ type: 'submitted', run: runId, folder, target, job }));
    print(`submitted ${runId} to ${target} as job ${job}`);
    advise(`Follow it with \`starpo logs ${runId} --follow\`; list jobs with \`starpo cluster jobs\`.`);
  });
}

/** Submits every queued run as a job. */
export async function submitQueue({ home, ...on }: CommandOptions & OnCluster): Promise<void> {
  await withClient(home, async (client) => {
    const { runs } = await client.call('queue.list', {});
    if (runs.length === 0) return advise('The queue is empty. Add a run with `starpo train PRESET --queue`.');
    const plan = await client.call('cluster.plan', { target: on.on, jobs: { runIds: runs } });
    if (!(await confirmed(plan, on))) return;
    for (const runId of runs) {
      const { job } = await client.call('cluster.submit', {
        ...{ runId, target: on.on, script: plan.script, scriptOf: runs[0] },
      });
      print(`submitted ${runId} to ${on.on} as job ${job}`);
    }
  });
}

/** Submits the runs of a sweep that have not completed as a job array. */
export async function submitStudy(named: string, { home, on: target, yes }: CommandOptions & OnCluster): Promise<void> {
  await withClient(home, async (client) => {
    const studyId = await resolveStudy(client, named);
    const plan = await client.call('cluster.plan', { target, jobs: { studyId } });
    if (!(await confirmed(plan, { on: target, yes: yes ?? false }))) return;
    const { job, count: runs } = await client.call('studies.submit', { studyId, target, script: plan.script });
    print(`submitted ${count(runs, 'run')} to ${target} as job array ${job}`);
    advise('List its jobs with `starpo cluster jobs`.');
  });
}

/** Prints a script with its price, and requests confirmation on a terminal unless `yes` is set. Throws the problem if the jobs can't run. */
async function confirmed(
  { script, price, start, problem }: Output<'cluster.plan'>,
  { on, yes }: OnCluster,
): Promise<boolean> {
  print(`${script.trimEnd()}\n`);
  if (problem) throw new Failure(problem.code, problem.message, problem.hint);
  print(`${priceText(price)}\n${start}`);
  const jobs = price.jobs === 1 ? 'the job' : `${price.jobs} jobs`;
  if (yes || !process.stdin.isTTY || !process.stderr.isTTY) {
    print(`submitting ${jobs} to ${on}`);
    return true;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^(y(es)?)?$/i.test((await terminal.question(`Submit ${jobs} to ${on}? [Y/n] `)).trim());
  } finally {
    terminal.close();
  }
}

/** Describes the price of jobs: `16 jobs with at most 64 GPU hours per attempt, about 3 h with 8 at once at this machine's speed`. */
export function priceText({ jobs, unit, hours, seconds, atOnce }: JobPrice): string {
  const most = `${count(jobs, 'job')} with at most ${rounded(hours)} ${unit} ${hours === 1 ? 'hour' : 'hours'} per attempt`;
  if (seconds === null) return most;
  const duration = `about ${durationText(seconds)}`;
  return `${most}, ${duration}${jobs === 1 ? '' : ` with ${atOnce} at once`} at this machine's speed`;
}

const rounded = (value: number) => Number(value.toPrecision(2)).toString();

/** Lists the newest job of each run. */
export async function listJobs({ home, json }: CommandOptions): Promise<void> {
  const jobs = await withClient(home, (client) => client.call('cluster.jobs', {}), { repeatable: true });
  if (json) return print(JSON.stringify(jobs, null, 2));
  if (jobs.length === 0) return advise('No jobs. Submit a run with `starpo train PRESET --on TARGET`.');
  print(table(jobs.map(jobRow)));
}

const jobRow = ({ attempts, ...job }: ClusterJob) => [
  ...[job.run, job.target, job.job, stateText(job)],
  attempts > 1 ? `attempt ${attempts}` : '',
];

const stateText = ({ text, limit }: Pick<ClusterJob, 'text' | 'limit'>) =>
  limit === null ? text : `${text}, ${durationText((limit - Date.now()) / 1000)} left`;

/** Prints the newest job of a run, its attempts, and the ends of its logs if it failed. */
export async function showJob(named: string, { home, json }: CommandOptions): Promise<void> {
  await withRun(home, named, async (client, runId) => {
    const details = await client.call('cluster.job', { runId });
    if (json) return print(JSON.stringify(details, null, 2));
    const { job, attempts, logs } = details;
    print(`${runId} on ${job.target}${job.job === '' ? '' : `, job ${job.job}`}: ${stateText(job)}`);
    if (attempts.length > 0) print(`\n${table(attempts.map(attemptRow))}`);
    for (const { name, lines } of logs) print(`\n${name}:\n${lines.map((line) => `  ${line}`).join('\n')}`);
  });
}

const attemptRow = ({ job, restart, node, began, ended, code }: JobAttempt, index: number) => [
  `attempt ${index + 1}`,
  restart > 0 ? `job ${job}, requeue ${restart}` : `job ${job}`,
  node,
  // In local time and in this form, as Slurm prints times.
  new Date(began).toLocaleString('sv-SE'),
  ended === null ? 'no end recorded' : `${durationText((ended - began) / 1000)}, exit code ${code}`,
];

const act =
  (action: JobAction) =>
  async (named: string, { home }: CommandOptions) => {
    await withClient(home, async (client) => {
      await client.call('cluster.act', { runId: await resolveRun(client, named), action });
    });
  };
export const cancelJob = act('cancel');
export const holdJob = act('hold');
export const releaseJob = act('release');
export const requeueJob = act('requeue');

export async function setNice(named: string, nice: number, { home }: CommandOptions): Promise<void> {
  await withRun(home, named, (client, runId) => client.call('cluster.nice', { runId, nice }));
}
