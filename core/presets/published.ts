import { Failure } from '../contract/failure.ts';

/** A published language model with presets. */
export interface PublishedModel {
  /** Also the folder name. */
  name: string;
  /** Display name. */
  title: string;
  /** Hugging Face repository. */
  repository: string;
  license: string;
  shape: ModelShape;
}

/** Shape of a Qwen2 model, with the keys of its config.json. */
export interface ModelShape {
  vocab_size: number;
  hidden_size: number;
  intermediate_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  head_dim: number;
  tie_word_embeddings: boolean;
}

function qwen(size: string, license: string, shape: Omit<ModelShape, 'vocab_size' | 'tie_word_embeddings'>) {
  const name = `Qwen2.5-${size}-Instruct`;
  return {
    name,
    title: `Qwen2.5 ${size}`,
    repository: `Qwen/${name}`,
    license,
    shape: { ...shape, vocab_size: 151_936, tie_word_embeddings: true },
  };
}

export const publishedModels: readonly PublishedModel[] = [
  qwen('0.5B', 'Apache 2.0', {
    hidden_size: 896,
    intermediate_size: 4864,
    num_hidden_layers: 24,
    num_attention_heads: 14,
    num_key_value_heads: 2,
    head_dim: 64,
  }),
  qwen('1.5B', 'Apache 2.0', {
    hidden_size: 1536,
    intermediate_size: 8960,
    num_hidden_layers: 28,
    num_attention_heads: 12,
    num_key_value_heads: 2,
    head_dim: 128,
  }),
  qwen('3B', 'Qwen Research License, no commercial use', {
    hidden_size: 2048,
    intermediate_size: 11_008,
    num_hidden_layers: 36,
    num_attention_heads: 16,
    num_key_value_heads: 2,
    head_dim: 128,
  }),
];

/** Finds a model by name. Throws `model_unknown`. */
export function publishedModel(name: string): PublishedModel {
  const found = publishedModels.find((model) => model.name === name);
  if (found) return found;
  const names = publishedModels.map((model) => model.name).join(', ');
  throw new Failure('model_unknown', `Unknown model "${name}".`, `Models: ${names}.`);
}

/** Returns the number of parameters: matrices, biases and norms. */
export function parameterCount(shape: ModelShape): number {
  const { hidden_size: hidden, intermediate_size: inner, num_hidden_layers: layers } = shape;
  const queries = shape.num_attention_heads * shape.head_dim;
  const keys = shape.num_key_value_heads * shape.head_dim;
  const attention = (hidden + 1) * (queries + 2 * keys) + queries * hidden;
  const block = attention + 3 * hidden * inner + 2 * hidden;
  return (shape.tie_word_embeddings ? 1 : 2) * shape.vocab_size * hidden + layers * block + hidden;
}
