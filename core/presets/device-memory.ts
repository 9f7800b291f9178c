import type { MemoryPart } from '../contract/contract.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { type ModelShape, parameterCount } from './published.ts';

/** Shared prompts that are kept at a time, rows of a prefill, memory for a chunk of logits and for the products: the trainer's own limits (native/src/engine/cuda/engine). */
const sharedPrompts = 64;
const prefillRows = 4096;
const logitBytes = 2 ** 30;
const workspaceBytes = 32 * 2 ** 20;

/**
 * What a run will take of a GPU's memory, part by part as the trainer's plan has them (docs/formats/journal.md): for saying so before there is a trainer
 * to ask. A test holds it to the trainer's own plans within two percent.
 */
export function deviceMemoryParts(config: RunConfig, shape: ModelShape): MemoryPart[] {
  const { rollout, optimizer, critic, kl, diagnostics } = config;
  // A reference that is the run's own start serves for both.
  const keepsStart = diagnostics.every > 0 && (kl.coefficient === 0 || kl.reference !== '');
  const width = config.precision === 'bf16' ? 2 : 4;
  const copy = width === 2 ? 2 : 0;
  const parameters = parameterCount(shape);
  // fp32 weights, gradients and both moments, a copy in the precision of the products, and a flag for eight weights.
  const trained = parameters * (16 + copy + 1 / 8);
  const slots = Math.min(
    rollout.slots,
    Math.max(rollout.groups * rollout.group_size, config.evaluation.levels),
  );
  const seats = slots + Math.min(rollout.groups, sharedPrompts);
  // 0: what the memory has room for, so that little is enough.
  const tokens = Math.max(optimizer.micro_batch_tokens || 4096, rollout.context);
  const cachedToken = 2 * shape.num_hidden_layers * shape.num_key_value_heads * shape.head_dim * width;
  const perLogitRow = shape.vocab_size * (4 + width);
  const logitRows = Math.min(tokens, Math.floor(logitBytes / perLogitRow));
  return [
    { name: 'policy', lifetime: 'run', bytes: trained },
    ...(critic.model === 'full' ? [{ name: 'critic', lifetime: 'run' as const, bytes: trained }] : []),
    ...(kl.coefficient > 0
      ? [{ name: 'reference', lifetime: 'run' as const, bytes: parameters * width }]
      : []),
    ...(keepsStart ? [{ name: 'start', lifetime: 'run' as const, bytes: parameters * width }] : []),
    { name: 'kv_cache', lifetime: 'rollout', bytes: seats * (rollout.context + 1) * cachedToken },
    { name: 'rollout_buffers', lifetime: 'rollout', bytes: rolloutBytes(shape, width, slots) },
    { name: 'activations', lifetime: 'update', bytes: tokens * tokenBytes(config, shape, width) },
    { name: 'logits', lifetime: 'update', bytes: logitRows * perLogitRow },
    { name: 'workspace', lifetime: 'run', bytes: workspaceBytes },
  ];
}

/** Of one token, in a block: queries, keys and values. */
function attentionWidths(shape: ModelShape) {
  const queries = shape.num_attention_heads * shape.head_dim;
  return { queries, qkv: queries + 2 * shape.num_key_value_heads * shape.head_dim };
}

function rolloutBytes(shape: ModelShape, width: number, slots: number): number {
  const { hidden_size: hidden, intermediate_size: inner } = shape;
  const { queries, qkv } = attentionWidths(shape);
  return (
    prefillRows * (4 * hidden + width * (2 * hidden + qkv + queries + inner)) + 4 * slots * shape.vocab_size
  );
}

/** What a micro-batch holds of one token: what each block keeps for its backward pass, and what is there once. */
function tokenBytes(config: RunConfig, shape: ModelShape, width: number): number {
  const { hidden_size: hidden, intermediate_size: inner, num_attention_heads: heads } = shape;
  const { queries, qkv } = attentionWidths(shape);
  const input = 4 * hidden;
  const elementwise = width * (2 * hidden + inner);
  // The residual stream and the statistics of norms and softmax are fp32.
  const products = width * (qkv + queries + 2 * inner) + input + 4 * (2 + heads);
  const level = config.optimizer.recompute;
  const kept = input + (level === 'block' ? 0 : products) + (level === 'none' ? elementwise : 0);
  const once = products + elementwise - (kept - input);
  const passing = 3 * input + width * (5 * hidden + inner + queries + qkv) + 4 * heads + input;
  return shape.num_hidden_layers * kept + once + passing + 64;
}

/** What is there at once: rollout and update take turns. */
export function totalBytes(parts: readonly MemoryPart[]): number {
  const sum = (lifetime: MemoryPart['lifetime']) =>
    parts.reduce((bytes, part) => bytes + (part.lifetime === lifetime ? part.bytes : 0), 0);
  return sum('run') + Math.max(sum('rollout'), sum('update'));
}
