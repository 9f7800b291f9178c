import { z } from 'zod';

/** Words for a field in the form of a target. */
interface FieldWords {
  title: string;
  description: string;
  /** An example value. */
  example?: string;
}
const words = (facts: FieldWords) => ({ ...facts });

const line = z
  .string()
  .max(1000)
  .regex(/^[^\r\n]*$/, 'must be one line');
/** A value of an `#SBATCH` option. */
const word = z.string().regex(/^[\w.,:=/%@+-]{1,200}$/, 'must contain only letters, digits and . , : = / % @ + - _');
const whole = (low: number, high: number) => {
  const message = `must be a whole number from ${low} to ${high}`;
  return z.number(message).int(message).min(low, message).max(high, message);
};

/** A Slurm cluster (docs/formats/targets.md). */
export const slurmTarget = z
  .strictObject({
    type: z.literal('slurm'),
    partition: word.optional().meta(words({ title: 'Partition', description: "Default: the cluster's." })),
    account: word.optional().meta(words({ title: 'Account', description: 'Default: yours.' })),
    qos: word.optional().meta(words({ title: 'QOS', description: "Quality of service. Default: the cluster's." })),
    time: z
      .string('is required')
      .regex(/^\d+(:\d+){0,2}$|^\d+-\d+(:\d+){0,2}$/, 'must be like 4:00:00 or 1-12:00:00')
      .meta(
        words({
          title: 'Time limit per attempt',
          description: 'As hours:minutes:seconds. A run that needs longer is requeued and resumes.',
          example: '4:00:00',
        }),
      ),
    gpus: whole(0, 1)
      .default(1)
      .meta(words({ title: 'GPUs per job', description: '1, or 0 to train on the CPU. Default 1.' })),
    cpus: whole(1, 1024)
      .default(4)
      .meta(words({ title: 'CPUs per job', description: 'CPU cores. Default 4.' })),
    memory: z
      .string()
      .regex(/^\d+[KMGT]?$/, 'must be like 32G')
      .optional()
      .meta(words({ title: 'Host memory', description: "RAM per job. Default: the cluster's.", example: '32G' })),
    grace: whole(10, 3600)
      .default(300)
      .meta(
        words({
          title: 'Grace time in seconds',
          description: 'Time for a checkpoint before the time limit, 10 to 3600. Default 300.',
        }),
      ),
    simultaneous: whole(1, 10_000)
      .optional()
      .meta(
        words({
          title: 'Simultaneous jobs',
          description: "Maximum number of a sweep's jobs that run at once. Default: no limit.",
        }),
      ),
    setup: z
      .array(line)
      .default([])
      .meta(
        words({
          title: 'Set-up',
          description: 'Shell commands that run before the trainer.',
          example: 'module load cuda',
        }),
      ),
    prefix: line.default('').meta(
      words({
        title: 'Command prefix',
        description: 'Command that runs the trainer, such as a container runtime.',
        example: 'apptainer exec --nv image.sif',
      }),
    ),
    extra: z
      .array(line.regex(/^--/, 'must start with --'))
      .default([])
      .meta(
        words({
          title: 'More options',
          description: 'Further sbatch options, one per line.',
          example: '--constraint=a100',
        }),
      ),
    trainer: z
      .string()
      .startsWith('/', 'must be an absolute path')
      .optional()
      .meta(words({ title: 'Trainer', description: "Path of the trainer on the nodes. Default: the app's." })),
  })
  .refine(({ time, grace }) => grace < limitSeconds(time), {
    path: ['grace'],
    message: 'must be shorter than the time limit',
  });
export type SlurmTarget = z.infer<typeof slurmTarget>;

/** Parses Slurm's time limit, such as `90` (minutes), `4:00:00`, `1-12` or `1-12:00:00`, into seconds. */
export function limitSeconds(time: string): number {
  const [days, rest] = time.includes('-') ? time.split('-') : ['', time];
  const parts = rest!.split(':').map(Number);
  // With days, the first part is hours. Without, one part is minutes and two are minutes and seconds.
  const [hours = 0, minutes = 0, seconds = 0] = days || parts.length === 3 ? parts : [0, ...parts];
  return ((Number(days) * 24 + hours) * 60 + minutes) * 60 + seconds;
}

/** A setting of a target for a form. */
export interface TargetField extends FieldWords {
  name: string;
  kind: 'text' | 'number' | 'lines';
  required: boolean;
  /** The default as text; empty if there is none. */
  fallback: string;
}

/** Converts a setting to the text of its field. */
export const toText = (value: unknown): string => (Array.isArray(value) ? value.join('\n') : String(value ?? ''));

/** The settings of a target in the order of the form. */
export const targetFields: readonly TargetField[] = Object.entries(slurmTarget.shape)
  .filter(([name]) => name !== 'type')
  .map(([name, schema]) => {
    const missing = schema.safeParse(undefined);
    const fallback = missing.success ? toText(missing.data) : '';
    return {
      name,
      kind: kindOf(schema),
      required: !missing.success,
      fallback,
      ...(schema.meta() as unknown as FieldWords),
    };
  });

function kindOf(schema: z.core.$ZodType): TargetField['kind'] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return kindOf(schema.unwrap());
  if (schema instanceof z.ZodNumber) return 'number';
  return schema instanceof z.ZodArray ? 'lines' : 'text';
}

/** Reads the settings of a target from the texts of its fields. Omits empty fields. The settings may be invalid. */
export function readFields(texts: Readonly<Record<string, string>>): Record<string, unknown> {
  const settings: Record<string, unknown> = { type: 'slurm' };
  for (const { name, kind } of targetFields) {
    const text = texts[name] ?? '';
    const trimmed = text.trim();
    if (trimmed === '') continue;
    // Shell commands keep their indentation.
    const lines = text.split('\n').map((each) => each.trimEnd());
    settings[name] = kind === 'lines' ? lines.filter(Boolean) : kind === 'number' ? Number(trimmed) : trimmed;
  }
  return settings;
}

/** Returns the settings of a target that differ from their defaults. */
export const withoutDefaults = (target: SlurmTarget): Partial<SlurmTarget> =>
  Object.fromEntries(
    Object.entries(target).filter(
      ([name, value]) => toText(value) !== (targetFields.find((field) => field.name === name)?.fallback ?? ''),
    ),
  );
