import type { RunJob } from '../contract/cluster-job.ts';
import { sentence } from '../contract/sentence.ts';
import type { SlurmJob } from './slurm.ts';

/** Slurm's reasons for pending jobs, in words. */
const waits: Record<string, string> = {
  None: 'waits for the scheduler',
  Resources: 'waits for free nodes or GPUs',
  Priority: 'waits behind jobs with a higher priority',
  Dependency: 'waits until an earlier job of this run has ended',
  DependencyNeverSatisfied:
    'can never start, because a job that it depends on failed; cancel it and submit the run again',
  JobHeldUser: 'is held; release it to let it start',
  JobHeldAdmin: 'is held by an administrator',
  JobArrayTaskLimit: 'waits because its sweep already has the maximum number of running jobs',
  Licenses: 'waits for a license',
  Reservation: 'waits for its reservation',
  Cleaning: 'is being requeued',
  NodeDown: 'waits because a node is down',
  launch_failed_requeued_held: 'is held because its node could not start it; release it to try again',
};

/** Prefixes of the reasons of jobs that can never run as requested. */
const impossibleReasons = [
  'PartitionNodeLimit',
  'PartitionConfig',
  'PartitionTimeLimit',
  'BadConstraints',
  'InvalidAccount',
  'InvalidQOS',
];

const endWords: Record<string, string> = {
  COMPLETED: 'ended',
  CANCELLED: 'was canceled',
  TIMEOUT: 'reached its time limit',
  NODE_FAIL: 'ended because its node failed',
  OUT_OF_MEMORY: 'ran out of memory; increase the host memory in the settings of the cluster',
  PREEMPTED: 'was preempted by another job',
  BOOT_FAIL: 'ended because its node did not start',
  DEADLINE: 'reached its deadline',
};

const pendingStates = ['PENDING', 'REQUEUED', 'REQUEUE_FED', 'REQUEUE_HOLD', 'SPECIAL_EXIT', 'CONFIGURING'];
const runningStates = ['RUNNING', 'COMPLETING', 'SUSPENDED', 'STOPPED', 'STAGE_OUT', 'SIGNALING', 'RESIZING'];

/** States of jobs that ended without success. */
const failedStates = ['FAILED', 'TIMEOUT', 'NODE_FAIL', 'OUT_OF_MEMORY', 'PREEMPTED', 'BOOT_FAIL', 'DEADLINE'];

type Words = Pick<RunJob, 'phase' | 'state' | 'text' | 'impossible' | 'held' | 'failed' | 'nice' | 'limit'>;

const plain = { state: '', impossible: false, held: false, failed: false, nice: null, limit: null };

/** Describes the state of a job and its reason. `requeued`: whether a job that waits for its start time has had an attempt before. */
export function describeJob(job: SlurmJob, requeued = false): Words {
  const { state, reason, nice, end } = job;
  if (pendingStates.includes(state)) {
    const reasonText = whyImpossible(job);
    const text = reasonText
      ? `${reasonText}. Cancel the job and correct the settings of the cluster.`
      : pendingText(job, requeued);
    const held = reason === 'JobHeldUser' || reason === 'launch_failed_requeued_held';
    return { ...plain, phase: 'pending', state, text, impossible: reasonText !== null, held, nice };
  }
  if (runningStates.includes(state))
    return { ...plain, phase: 'running', state, text: runningText(job), limit: end === null ? null : Date.parse(end) };
  return { ...plain, phase: 'ended', state, text: endText(job), failed: failedStates.includes(state) };
}

/** Describes a job while Slurm does not answer. */
export const unknownJob = (problem: string): Words => ({
  ...plain,
  phase: 'unknown',
  text: `is in an unknown state: ${problem}`,
});

/** Describes a job of which Slurm has no record. */
export const endedJob = (text: string): Words => ({ ...plain, phase: 'ended', text });

/** Describes the answer of `sbatch --test-only`. */
export function describeTest(answer: string): string {
  const found = / to start at (\S+) .*?on nodes (\S+)(?: in partition (\S+))?/.exec(answer);
  if (!found) return sentence(answer.trim().replace(/^sbatch: /, ''));
  const [, time, nodes, partition] = found;
  return `A job could start at ${time!.replace('T', ' ')} on ${nodes}${partition ? ` in partition ${partition}` : ''}.`;
}

/** Returns why a job can never run, as the predicate of a sentence; null if it may run. */
export function whyImpossible({ reason }: SlurmJob): string | null {
  if (!impossibleReasons.some((each) => reason.startsWith(each))) return null;
  const cause = reason.startsWith('Partition')
    ? 'it requests more than its partition allows'
    : 'the cluster does not accept its request';
  return `can never run (${reason}): ${cause}`;
}

function pendingText({ state, reason, start }: SlurmJob, requeued: boolean): string {
  if (state === 'CONFIGURING') return 'waits until its node is ready';
  if (reason === 'BeginTime')
    return `${requeued ? 'was requeued and starts again' : 'starts'}${start ? ` at ${start.replace('T', ' ')}` : ' later'}`;
  if (/^ReqNodeNotAvail|^Nodes_required/.test(reason)) return 'waits for nodes that are down or reserved';
  if (/^(QOS|Assoc|Max)/.test(reason)) return `waits because a limit of your account is reached (${reason})`;
  return waits[reason] ?? `waits (${reason})`;
}

function runningText({ state, nodes, start }: SlurmJob): string {
  if (state === 'COMPLETING') return `is ending on ${nodes}`;
  if (state === 'SUSPENDED' || state === 'STOPPED') return `is suspended on ${nodes}`;
  return `is running on ${nodes}${start ? ` (started ${start.replace('T', ' ')})` : ''}`;
}

function endText({ state, exitCode }: SlurmJob): string {
  if (state === 'FAILED') return `failed with exit code ${(exitCode ?? '?').split(':')[0]}`;
  return endWords[state] ?? state.toLowerCase();
}
