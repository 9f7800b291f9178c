import type { MemoryPart } from '../contract/contract.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { type ModelShape, parameterCount } from './published.ts';

/** Limits of the trainer (native/src/engine/cuda/engine): shared prompts, prefill rows, bytes per chunk of logits, and workspace bytes. */
const sharedPrompts = 64;
const prefillRows = 4096;
const logitBytes = 2 ** 30;
const workspaceBytes = 32 * 2 ** 20;

/**
 * Estimates the GPU memory of a run, with the parts of the trainer's memory plan (docs/formats/journal.md), without running the trainer. A test checks
 * that it is within two percent of the trainer's plans.
 */
export function deviceMemoryParts(config: RunConfig, shape: ModelShape): MemoryPart[] {
  const { rollout, optimizer, critic, kl, diagnostics } = config;
  // If the reference is the initial policy, one copy serves both.
  const keepsStart = diagnostics.every > 0 && (kl.coefficient === 0 || kl.reference !== '');
  const width = config.precision === 'bf16' ? 2 : 4;
  const copy = width === 2 ? 2 : 0;
  const parameters = parameterCount(shape);
  // fp32 weights, gradients and both moments, a copy in the compute precision, and one bit per weight.
  const trained = parameters * (16 + copy + 1 / 8);
  const slots = Math.min(rollout.slots, Math.max(rollout.groups * rollout.group_size, config.evaluation.levels));
  const sequences = slots + Math.min(rollout.groups, sharedPrompts);
  // 0 picks a value that fits, so a small one is enough here.
  const tokens = Math.max(optimizer.micro_batch_tokens || 4096, rollout.context);
  const cachedToken = 2 * shape.num_hidden_layers * shape.num_key_value_heads * shape.head_dim * width;
  const perLogitRow = shape.vocab_size * (4 + width);
  const logitRows = Math.min(tokens, Math.floor(logitBytes / perLogitRow));
  return [
    { name: 'policy', lifetime: 'run', bytes: trained },
    ...(critic.model === 'full' ? [{ name: 'critic', lifetime: 'run' as const, bytes: trained }] : []),
    ...(kl.coefficient > 0 ? [{ name: 'reference', lifetime: 'run' as const, bytes: parameters * width }] : []),
    ...(keepsStart ? [{ name: 'start', lifetime: 'run' as const, bytes: parameters * width }] : []),
    { name: 'kv_cache', lifetime: 'rollout', bytes: sequences * rollout.context * cachedToken },
    { name: 'rollout_buffers', lifetime: 'rollout', bytes: rolloutBytes(shape, width, slots) },
    { name: 'activations', lifetime: 'update', bytes: tokens * tokenBytes(config, shape, width) },
    { name: 'logits', lifetime: 'update', bytes: logitRows * perLogitRow },
    { name: 'workspace', lifetime: 'run', bytes: workspaceBytes },
  ];
}

/** Widths per token and block: queries, and queries with keys and values. */
function attentionWidths(shape: ModelShape) {
  const queries = shape.num_attention_heads * shape.head_dim;
  return { queries, qkv: queries + 2 * shape.num_key_value_heads * shape.head_dim };
}

function rolloutBytes(shape: ModelShape, width: number, slots: number): number {
  const { hidden_size: hidden, intermediate_size: inner } = shape;
  const { queries, qkv } = attentionWidths(shape);
  // The logits share memory with the gate and up projections, which fp32 fuses with SwiGLU and does not store.
  const logits = Math.max(4 * slots * shape.vocab_size, width === 2 ? prefillRows * width * 2 * inner : 0);
  return prefillRows * (4 * hidden + width * (2 * hidden + qkv + queries + inner)) + logits;
}

/** Returns the activation bytes per token of a micro-batch: those that each block keeps for the backward pass, and those needed once. */
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

/** Approximate memory use of the driver, which the trainer's plan does not contain. */
export const driverBytes = 2 ** 30;

/** Returns the memory that a GPU needs for a run. Every part of the app shows this figure. */
export const deviceBytes = (config: RunConfig, shape: ModelShape): number =>
  driverBytes + totalBytes(deviceMemoryParts(config, shape));

/** Returns the peak: rollout and update do not overlap. */
export function totalBytes(parts: readonly MemoryPart[]): number {
  const sum = (lifetime: MemoryPart['lifetime']) =>
    parts.reduce((bytes, part) => bytes + (part.lifetime === lifetime ? part.bytes : 0), 0);
  return sum('run') + Math.max(sum('rollout'), sum('update'));
}
