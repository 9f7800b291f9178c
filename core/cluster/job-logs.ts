import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import type { JobAttempt, JobLog } from '../contract/cluster-job.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';
import { parseLine } from '../run-directory/parse-line.ts';
import type { JobFile } from './job-file.ts';

const attemptLine = z.object({
  type: z.enum(['begin', 'end']),
  job: z.string(),
  restart: z.int(),
  node: z.string(),
  time: z.number(),
  code: z.int().optional(),
});

/** Returns the attempts that the scripts of a run have recorded in attempts.jsonl, oldest first. */
export async function readAttempts(folder: string): Promise<JobAttempt[]> {
  const text = await readFile(join(folder, 'attempts.jsonl'), 'utf8').catch(() => '');
  const attempts: JobAttempt[] = [];
  for (const line of text.split('\n')) {
    const parsed = parseLine(attemptLine, line);
    if (!parsed) continue;
    const { type, job, restart, node, time, code = null } = parsed;
    const begun = attempts.findLast((attempt) => attempt.job === job && attempt.restart === restart);
    if (type === 'begin') attempts.push({ job, restart, node, began: time, ended: null, code: null });
    else if (begun) Object.assign(begun, { ended: time, code });
  }
  return attempts;
}

/** Maximum number of lines of a log. */
const maxLines = 20;
/** Maximum difference in ms between the clocks of this machine and of a node. */
const clockSkew = 60_000;

/** Returns the ends of the logs of a run's newest job, the one that explains its failure first. */
export async function jobLogs(home: string, runId: string, file: JobFile): Promise<JobLog[]> {
  const folder = runFolder(home, runId);
  const { task, job, submitted } = file;
  const slurmLog = task ? join(home, 'jobs', task.study, `slurm-${job}.log`) : join(folder, 'slurm.log');
  const paths = { [runFiles.log]: join(folder, runFiles.log), 'slurm.log': slurmLog };
  const logs: JobLog[] = [];
  for (const [name, path] of Object.entries(paths)) {
    const lines = await lastLines(path, submitted - clockSkew);
    if (lines.length > 0) logs.push({ name, lines });
  }
  // If the trainer did not fail, the log of the script explains why the job did.
  const trainerFailed = Boolean((await readAttempts(folder)).findLast((attempt) => attempt.job === job)?.code);
  return trainerFailed ? logs : logs.reverse();
}

/** Number of bytes that are read from the end of a log. */
const tailBytes = 16_384;

/** Returns the last lines of a text file that was written after a time; none if it can't be read. */
async function lastLines(path: string, after: number): Promise<string[]> {
  const { size, mtimeMs } = await stat(path).catch(() => ({ size: 0, mtimeMs: 0 }));
  if (size === 0 || mtimeMs < after) return [];
  const file = await open(path).catch(() => null);
  if (!file) return [];
  try {
    const start = Math.max(0, size - tailBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tailBytes), 0, tailBytes, start);
    const lines = stripVTControlCharacters(buffer.toString('utf8', 0, bytesRead)).split(/[\r\n]+/);
    if (start > 0) lines.shift();
    return lines
      .filter((line) => line.trim() !== '')
      .slice(-maxLines)
      .map((line) => line.slice(0, 500));
  } finally {
    await file.close();
  }
}
