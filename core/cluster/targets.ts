import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { targetName } from '../contract/cluster-job.ts';
import { Failure, messageOf } from '../contract/failure.ts';
import { requireJsonFile } from '../run-directory/parse-line.ts';

const line = z
  .string()
  .max(1000)
  .regex(/^[^\r\n]*$/, 'must be one line');
/** A value of an `#SBATCH` option. */
const word = z.string().regex(/^[\w.,:=/%@+-]{1,200}$/, 'must be a word without spaces');

export const slurmTarget = z
  .strictObject({
    type: z.literal('slurm'),
    partition: word.optional(),
    account: word.optional(),
    qos: word.optional(),
    /** Time limit, such as `4:00:00` or `1-12:00:00`. A run that needs longer is requeued and resumes. */
    time: z.string().regex(/^\d+(:\d+){0,2}$|^\d+-\d+(:\d+){0,2}$/, 'must be like 4:00:00 or 1-12:00:00'),
    gpus: z.number().int().min(0).max(1).default(1),
    cpus: z.number().int().min(1).max(1024).default(4),
    memory: z
      .string()
      .regex(/^\d+[KMGT]?$/, 'must be like 32G')
      .optional(),
    /** Seconds before the time limit at which the trainer writes a checkpoint. */
    grace: z.number().int().min(10).max(3600).default(300),
    /** Maximum number of jobs of a sweep that run at once. */
    simultaneous: z.number().int().min(1).max(10_000).optional(),
    /** Shell lines before the trainer, such as `module load cuda`. */
    setup: z.array(line).default([]),
    /** Words before the trainer's command, such as `apptainer exec --nv image.sif`. */
    prefix: line.default(''),
    /** Further options of sbatch, such as `--constraint=a100`. */
    extra: z.array(line.regex(/^--/, 'must start with --')).default([]),
    /** The trainer on the cluster; by default that of the app. */
    trainer: z.string().startsWith('/').optional(),
  })
  .refine(({ time, grace }) => grace < limitSeconds(time), { path: ['grace'], message: 'must be shorter than time' });
export type SlurmTarget = z.infer<typeof slurmTarget>;

const content = z.strictObject({ version: z.literal(1), targets: z.record(targetName, slurmTarget) });

/** targets.json of a data folder (docs/formats/targets.md), which the user edits. */
export class Targets {
  readonly path: string;

  constructor(home: string) {
    this.path = join(home, 'targets.json');
  }

  /** Returns the targets by name; none without the file. Throws `targets_invalid`. */
  read(): Record<string, SlurmTarget> {
    if (!existsSync(this.path)) return {};
    let value: unknown;
    try {
      value = requireJsonFile(this.path);
    } catch (error) {
      throw this.invalid(messageOf(error));
    }
    const parsed = content.safeParse(value);
    if (parsed.success) return parsed.data.targets;
    const { path, message } = parsed.error.issues[0]!;
    throw this.invalid(`has an invalid value: ${path.join('.')}: ${message}`);
  }

  /** Throws `targets_invalid` or `target_unknown`. */
  get(name: string): SlurmTarget {
    const targets = this.read();
    const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
    if (target) return target;
    const names = Object.keys(targets).join(', ');
    throw new Failure(
      'target_unknown',
      `Target ${name} was not found in ${this.path}.`,
      names ? `Use one of: ${names}.` : 'Create the file; docs/formats/targets.md has an example.',
    );
  }

  private invalid(problem: string): Failure {
    return new Failure('targets_invalid', `${this.path} ${problem}.`, 'Correct the file; see docs/formats/targets.md.');
  }
}

/** Returns the main settings of a target in words. */
export function describeTarget({ type, partition, time, gpus, cpus, memory }: SlurmTarget): string {
  const parts = [`${gpus} ${gpus === 1 ? 'GPU' : 'GPUs'}`, `${cpus} CPUs`, memory, `at most ${time}`];
  return `${type}${partition ? `, partition ${partition}` : ''}: ${parts.filter(Boolean).join(', ')}`;
}

/** Parses Slurm's time limit, such as `90` (minutes), `4:00:00`, `1-12` or `1-12:00:00`, into seconds. */
export function limitSeconds(time: string): number {
  const [days, rest] = time.includes('-') ? time.split('-') : ['', time];
  const parts = rest!.split(':').map(Number);
  // With days, the first part is hours. Without, one part is minutes and two are minutes and seconds.
  const [hours = 0, minutes = 0, seconds = 0] = days || parts.length === 3 ? parts : [0, ...parts];
  return ((Number(days) * 24 + hours) * 60 + minutes) * 60 + seconds;
}
