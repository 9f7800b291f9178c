import type { MemoryPart } from '../api/contract.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { type ModelShape, parameterCount } from './published.ts';

/** Rows of logits that are computed at once. */
const logitRows = 4096;
/** Kernels' and libraries' scratch, and the driver's own. */
const workspaceBytes = 2 ** 30;

/**
 * What a run will take of a GPU's memory, part by part as the trainer's plan has them (docs/formats/journal.md): for saying so before there is a trainer
 * to ask. The plan itself may differ by a few percent.
 */
export function deviceMemoryParts(config: RunConfig, shape: ModelShape): MemoryPart[] {
  const { rollout, optimizer, critic, kl } = config;
  const width = config.precision === 'bf16' ? 2 : 4;
  const parameters = parameterCount(shape);
  // fp32 weights, gradients and both moments, and a copy in the precision of the products.
  const trained = parameters * (16 + (width === 2 ? 2 : 0));
  const slots = Math.min(
    rollout.slots,
    Math.max(rollout.groups * rollout.group_size, config.evaluation.levels),
  );
  const cachedToken = 2 * shape.num_hidden_layers * shape.num_key_value_heads * shape.head_dim * width;
  const block = blockBytes(shape, width);
  const kept = { none: block.all, elementwise: block.all - block.elementwise, block: block.input };
  const activations =
    optimizer.micro_batch_tokens * (shape.num_hidden_layers * kept[optimizer.recompute] + 2 * block.all);
  return [
    { name: 'policy', lifetime: 'run', bytes: trained },
    ...(critic.model === 'full' ? [{ name: 'critic', lifetime: 'run' as const, bytes: trained }] : []),
    ...(kl.coefficient > 0
      ? [{ name: 'reference', lifetime: 'run' as const, bytes: parameters * width }]
      : []),
    { name: 'kv_cache', lifetime: 'rollout', bytes: (slots + 1) * rollout.context * cachedToken },
    { name: 'activations', lifetime: 'update', bytes: activations },
    { name: 'logits', lifetime: 'update', bytes: logitRows * shape.vocab_size * width },
    { name: 'workspace', lifetime: 'run', bytes: workspaceBytes },
  ];
}

/** What one block keeps of a token for its backward pass: all of it, of that what its norms and SwiGLU put out, and what enters it. */
function blockBytes(shape: ModelShape, width: number) {
  const { hidden_size: hidden, intermediate_size: inner } = shape;
  const queries = shape.num_attention_heads * shape.head_dim;
  const keys = shape.num_key_value_heads * shape.head_dim;
  const elementwise = (2 * hidden + inner) * width;
  const products = (2 * queries + 2 * keys + 2 * inner) * width;
  // The residual stream and the statistics of norms and softmax are fp32.
  const input = 4 * hidden;
  const statistics = 4 * (2 + shape.num_attention_heads);
  return { all: 2 * input + statistics + products + elementwise, elementwise, input };
}

/** What is there at once: rollout and update take turns. */
export function totalBytes(parts: readonly MemoryPart[]): number {
  const sum = (lifetime: MemoryPart['lifetime']) =>
    parts.reduce((bytes, part) => bytes + (part.lifetime === lifetime ? part.bytes : 0), 0);
  return sum('run') + Math.max(sum('rollout'), sum('update'));
}
