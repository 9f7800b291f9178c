import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../contract/failure.ts';
import { fileReason } from '../contract/file-errors.ts';

const size = z
  .number()
  .int()
  .min(1)
  .max(1 << 24);
const positive = z.number().positive();
const unscaled = z.looseObject({});
const fixed = z.literal('default');

/** The keys of config.json that define a Qwen2 model (docs/formats/model-folder.md). */
const modelConfig = z
  .looseObject({
    model_type: z.literal('qwen2'),
    hidden_act: z.literal('silu').nullish(),
    use_sliding_window: z.literal(false).nullish(),
    rope_scaling: z.union([unscaled.extend({ rope_type: fixed }), unscaled.extend({ type: fixed })]).nullish(),
    quantization_config: z.null().optional(),
    vocab_size: size,
    hidden_size: size,
    intermediate_size: size,
    num_hidden_layers: size.max(1024),
    num_attention_heads: size,
    num_key_value_heads: size.nullish(),
    head_dim: size.nullish(),
    max_position_embeddings: size,
    rms_norm_eps: positive,
    rope_theta: positive.optional(),
    rope_parameters: z.looseObject({ rope_theta: positive }).nullish(),
    tie_word_embeddings: z.boolean().default(false),
    eos_token_id: z.union([z.int(), z.array(z.int())]).nullish(),
  })
  .transform((read) => ({
    ...read,
    num_key_value_heads: read.num_key_value_heads ?? read.num_attention_heads,
    head_dim: read.head_dim ?? read.hidden_size / read.num_attention_heads,
    rope_theta: read.rope_parameters?.rope_theta ?? read.rope_theta ?? Number.NaN,
  }))
  .refine(
    ({ num_attention_heads: heads, num_key_value_heads: shared, head_dim, rope_theta }) =>
      heads % shared === 0 && head_dim % 2 === 0 && Number.isFinite(rope_theta),
    'its attention heads, head_dim or rope_theta are not valid for a Qwen2 model',
  );
export type ModelConfig = z.infer<typeof modelConfig>;

/** Reads config.json. Throws `model_file_missing`, `model_config_invalid` or `model_unsupported`. */
export async function readModelConfig(folder: string): Promise<ModelConfig> {
  const path = join(folder, 'config.json');
  const file = await readJson(path);
  const read = modelConfig.safeParse(file);
  if (read.success) return read.data;
  throw new Failure(
    'model_unsupported',
    `${path}: ${inWords(file, read.error.issues[0]!)}.`,
    'Use a Qwen2 model with full attention, SiLU and unscaled rotary embeddings, such as Qwen2.5-0.5B-Instruct.',
  );
}

/** Formats an unexpected value, such as `model_type is "llama"`. */
function inWords(file: unknown, { path, message }: z.core.$ZodIssue): string {
  const [key] = path.map(String);
  if (key === undefined) return message;
  const value = (file as Record<string, unknown> | null)?.[key];
  if (value === undefined) return `${key} is missing`;
  return `${key} is ${typeof value === 'object' ? 'set' : JSON.stringify(value)}, which Qwen2 models do not support`;
}

/** Throws `model_file_missing` or `model_config_invalid`. */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new Failure(
      missing ? 'model_file_missing' : 'model_config_invalid',
      missing
        ? `${path} was not found.`
        : `${path} ${error instanceof SyntaxError ? 'is not valid JSON' : `can't be read: ${fileReason(error)}`}.`,
      'Copy the file again, or choose another model or checkpoint.',
    );
  }
}
