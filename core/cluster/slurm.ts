import { type ExecFileException, execFile } from 'node:child_process';
import { Failure } from '../contract/failure.ts';
import { sentence } from '../contract/sentence.ts';

/** Timeout of a command in ms. Without its controller, squeue gives up after nine seconds. */
const timeout = 30_000;

/** A job as Slurm describes it. */
export interface SlurmJob {
  job: string;
  state: string;
  /** Slurm's reason, such as `Resources`; `None` if there is none. */
  reason: string;
  /** As Slurm prints it, such as `2026-11-26T09:06:50`; null if unknown. */
  start: string | null;
  nodes: string;
  /** Time at which the time limit ends the job, as `start`; null without a limit. */
  end: string | null;
  nice: number | null;
  /** Exit code and signal, such as `1:0`; null while the job runs. */
  exitCode: string | null;
  restarts: number;
}

const unreachable =
  /unable to contact slurm controller|socket timed out|connection refused|zero bytes were transmitted/i;
const jobMissing = /invalid job id/i;
const unconfigured = /could not establish a configuration source/i;

/** Runs a command of Slurm and returns its output. `input`: its standard input. Throws `slurm_missing`, `slurm_unreachable`, `job_unknown` or `slurm_refused`. */
export function runSlurm(
  program: string,
  args: readonly string[],
  { input = '', ...options }: { input?: string; cwd?: string; env?: NodeJS.ProcessEnv; signal?: AbortSignal } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { ...options, timeout, maxBuffer: 64 << 20 }, (error, output, errors) => {
      if (!error) return resolve(`${output}${program === 'sbatch' && args.includes('--test-only') ? errors : ''}`);
      reject(slurmFailure(program, error, errors));
    });
    // The exit status reports why the program did not read its input.
    child.stdin?.on('error', () => {}).end(input);
  });
}

/** Returns the error of a failed command. */
export function slurmFailure(
  program: string,
  error: Pick<ExecFileException, 'code' | 'killed' | 'message'>,
  errors: string,
): Failure {
  if ((error as { code?: unknown }).code === 'ENOENT')
    return new Failure(
      'slurm_missing',
      `${program} was not found.`,
      'Run StarPO Studio on a login node of the cluster, or add the commands of Slurm to PATH.',
    );
  if (unconfigured.test(errors))
    return new Failure(
      'slurm_missing',
      'Slurm has no configuration on this machine.',
      'Run StarPO Studio on a login node of the cluster.',
    );
  if (error.killed || unreachable.test(errors))
    return new Failure(
      'slurm_unreachable',
      'The Slurm controller does not answer. Jobs continue, but their state is unknown.',
      'Try again later.',
    );
  if (jobMissing.test(errors))
    return new Failure('job_unknown', 'Slurm has no record of the job.', 'The run shows how it ended.');
  return new Failure(
    'slurm_refused',
    `Slurm rejected the request: ${reasonOf(errors) || error.message}`,
    'Check the state of the job with `starpo cluster show RUN`, and for a new job the settings of the cluster, in the app or in targets.json.',
  );
}

/** Returns the last line of an error output as a sentence. */
function reasonOf(errors: string): string {
  const last = errors.trim().split('\n').at(-1) ?? '';
  return last && sentence(last.replace(/^\w+: (error: )?/, '').replace(/^allocation failure: /, ''));
}

export const queueFormat = '%i|%T|%r|%S|%N|%e|%y';

/** Parses `squeue -h -r -o FORMAT`. */
export function parseQueue(text: string): SlurmJob[] {
  return text
    .split('\n')
    .filter((line) => line.includes('|'))
    .map((line) => {
      const [job = '', state = '', reason = '', start = '', nodes = '', end = '', nice = ''] = line.split('|');
      return {
        ...unmeasured,
        job,
        state,
        reason,
        start: timeOrNull(start),
        nodes,
        end: timeOrNull(end),
        nice: toNumber(nice),
      };
    });
}

/** Parses a line of `scontrol -o show job`. Returns null for other lines. */
export function parseJob(line: string): SlurmJob | null {
  const field = (name: string) => new RegExp(`(?:^| )${name}=(\\S*)`).exec(line)?.[1];
  const [id, array, task] = ['JobId', 'ArrayJobId', 'ArrayTaskId'].map(field);
  const state = field('JobState');
  if (!id || !state) return null;
  return {
    job: array && task && /^\d+$/.test(task) ? `${array}_${task}` : id,
    state,
    reason: field('Reason') ?? 'None',
    start: timeOrNull(field('StartTime') ?? ''),
    nodes: field('NodeList') ?? '',
    end: timeOrNull(field('EndTime') ?? ''),
    nice: toNumber(field('Nice')),
    exitCode: field('ExitCode') ?? null,
    restarts: Number(field('Restarts') ?? 0),
  };
}

/** Parses a line of `sacct -X -n -P -o JobID,State,ExitCode`. Returns null for other lines. */
export function parseAccounting(text: string): SlurmJob | null {
  const [job, state, exitCode] = text.trim().split('\n')[0]!.split('|');
  if (!job || !state || !exitCode) return null;
  // As in "CANCELLED by 1000".
  const [word = state] = state.split(' ');
  return endedSlurmJob(job, { state: word, exitCode });
}

/** Returns a job that has ended. */
export const endedSlurmJob = (job: string, end: Pick<SlurmJob, 'state' | 'exitCode'>): SlurmJob => ({
  ...unmeasured,
  job,
  ...end,
});

const unmeasured = { reason: 'None', start: null, nodes: '', end: null, nice: null, exitCode: null, restarts: 0 };

const toNumber = (text: string | undefined) => (text && /^-?\d+$/.test(text) ? Number(text) : null);

const timeOrNull = (time: string) => (/^\d{4}-/.test(time) ? time : null);
