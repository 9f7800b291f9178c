import { join } from 'node:path';
import type { SlurmTarget } from '../contract/cluster-targets.ts';
import { runFiles } from '../run-directory/names.ts';

/** The runs that a script trains: one, or several as an array of jobs. `folder` receives Slurm's output; for a single run it is the run folder. */
export type Job =
  | { run: string; folder: string }
  | { study: string; folder: string; runs: readonly string[]; simultaneous: number | undefined };

export const jobName = (run: string) => `starpo-${run}`;

/** Returns the batch script of a job for a target. */
export function slurmScript(job: Job, target: SlurmTarget, trainer: string): string {
  const options = [...jobOptions(job, target), ...targetOptions(target), ...target.extra];
  const device = target.gpus > 0 ? 'cuda' : 'cpu';
  const command = [target.prefix, quoted(target.trainer ?? trainer), 'train "$run" --device', device];
  return `${['#!/bin/bash', ...options.map((option) => `#SBATCH ${option}`), ...target.setup].join('\n')}
${'run' in job ? `run=${quoted(job.folder)}` : `runs=(\n${job.runs.map(quoted).join('\n')}\n)\nrun=\${runs[SLURM_ARRAY_TASK_ID]}`}
${body.replace('COMMAND', () => command.filter(Boolean).join(' '))}`;
}

function jobOptions(job: Job, { grace }: SlurmTarget): string[] {
  const common = ['--requeue', '--open-mode=append', `--signal=B:USR1@${grace}`];
  if ('run' in job)
    return [
      `--job-name=${jobName(job.run)}`,
      // A second job of the run waits until the first has ended.
      '--dependency=singleton',
      `--comment=starpo:${job.run}`,
      `--output=${outputPath(join(job.folder, 'slurm.log'))}`,
      ...common,
    ];
  const limit = job.simultaneous === undefined ? '' : `%${job.simultaneous}`;
  return [
    `--job-name=${jobName(job.study)}`,
    `--array=0-${job.runs.length - 1}${limit}`,
    `--comment=starpo:${job.study}`,
    `--output=${outputPath(job.folder, '/slurm-%A_%a.log')}`,
    ...common,
  ];
}

const targetOptions = ({ partition, account, qos, time, gpus, cpus, memory }: SlurmTarget): string[] => [
  ...(partition ? [`--partition=${partition}`] : []),
  ...(account ? [`--account=${account}`] : []),
  ...(qos ? [`--qos=${qos}`] : []),
  `--time=${time}`,
  '--nodes=1',
  '--ntasks=1',
  `--cpus-per-task=${cpus}`,
  ...(gpus > 0 ? [`--gpus-per-node=${gpus}`] : []),
  ...(memory ? [`--mem=${memory}`] : []),
];

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Quotes a path for an option; sbatch replaces words that start with %. */
const outputPath = (path: string, pattern = '') => `"${path.replaceAll('%', '%%')}${pattern}"`;

/**
 * Trains, and requeues the job if the time limit ends the attempt, or if the trainer crashes and the job was requeued fewer than three times before, for whatever reason. The script ignores SIGTERM of scancel,
 * because Slurm also sends it to the trainer: a second SIGTERM would end the trainer without a checkpoint. After the requeue it sleeps until Slurm
 * kills it, so that the job can't end before it is requeued.
 */
const body = `job=\${SLURM_ARRAY_JOB_ID:+\${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
job=\${job:-$SLURM_JOB_ID} restart=\${SLURM_RESTART_COUNT:-0} limit=0
record() {
  printf '{"type":"%s","job":"%s","restart":%d,"node":"%s","time":%s%s}\\n' "$1" "$job" "$restart" "\${SLURMD_NODENAME:-$(hostname -s)}" "$(date +%s000)" "$2" >> "$run/attempts.jsonl"
}
newest() { ls "$run/checkpoints" 2> /dev/null | tail -n 1; }
before=$(newest)
record begin
trap : TERM
trap 'limit=1; kill -TERM "$trainer"' USR1
COMMAND >> "$run/${runFiles.log}" 2>&1 & trainer=$!
while kill -0 "$trainer" 2> /dev/null; do wait "$trainer"; done
wait "$trainer"; code=$?
record end ",\\"code\\":$code"
again=0
case $code in
  0) [ $limit = 1 ] && tail -n 1 "$run/${runFiles.journal}" | grep -q '"type":"stopped".*"reason":"signal"' && again=1
    if [ $again = 1 ] && [ "$(newest)" = "$before" ]; then
      echo "The time limit ended the attempt before it wrote a new checkpoint. Increase time in targets.json." >&2
      exit 1
    fi;;
  134|135|136|137|139) [ "$restart" -lt 3 ] && again=1;;
esac
if [ $again = 1 ]; then
  scontrol requeue "$job" && sleep 60
fi
exit $code
`;
