import { z } from 'zod';

/** A field of an observation: a dotted path, such as `messages.-1.content`. Negative numbers count from the end. */
const path = z.string().min(1);

/** Where a field's value means success. A path that begins with `state.` is read from the server's state at the end of the episode. */
const success = z.strictObject({ field: path, equals: z.unknown().optional() });

/** What OpenEnv leaves open about a server (docs/formats/openenv.md). */
export const manifest = z.strictObject({
  name: z.string().optional(),
  /** Fields that the model sees as text. Default: the whole observation as JSON. */
  text: z.union([path, z.array(path).min(1)]).optional(),
  /** The text repeats what came before; the model sees the new part. */
  text_repeats: z.boolean().default(false),
  board: path.optional(),
  /** Fields that identify a state. */
  anchor: z.array(path).min(1).optional(),
  /** List of legal actions. */
  actions: path.optional(),
  /** Without it, an episode succeeds if its last reward is positive. */
  success: success.optional(),
  /** Reward for a step whose reward is null. Without this field, such a step is an error, except for a tool call. */
  null_reward: z.number().optional(),
  /** Additional keywords for reset. */
  reset: z
    .strictObject({
      train: z.record(z.string(), z.unknown()).default({}),
      validation: z.record(z.string(), z.unknown()).default({}),
    })
    .prefault({}),
  /** JSON Schema of actions, for servers without `/schema`. */
  schema: z.record(z.string(), z.unknown()).optional(),
  connections: z.int().min(1).max(1024).default(64),
  /** Time limits for a connection and an answer. */
  connect_seconds: z.number().positive().default(10),
  answer_seconds: z.number().positive().default(25),
});
export type Manifest = z.infer<typeof manifest>;

/** Returns the value at a path; undefined if it is missing. */
export function valueAt(root: unknown, path: string): unknown {
  let value = root;
  for (const key of path.split('.')) {
    if (Array.isArray(value)) value = /^-?\d+$/.test(key) ? value.at(Number(key)) : undefined;
    else if (typeof value === 'object' && value !== null && Object.hasOwn(value, key))
      value = (value as Record<string, unknown>)[key];
    else return undefined;
  }
  return value;
}
