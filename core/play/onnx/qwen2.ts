import type { ModelConfig } from '../../models/model-config.ts';
import { Graph } from './graph.ts';
import type { GraphValue, OnnxGraph } from './message.ts';

/** Adds a weight to the graph and returns the name of its fp32 value. */
type WeightOf = (graph: Graph, name: string, shape: readonly number[]) => string;

/** Names of the graph's inputs and outputs: the usual ones of a decoder with a KV cache. */
export const names = {
  ids: 'input_ids',
  /** Number of last positions that get logits; 0: all. */
  keep: 'num_logits_to_keep',
  logits: 'logits',
  past: (layer: number, part: 'key' | 'value') => `past_key_values.${layer}.${part}`,
  present: (layer: number, part: 'key' | 'value') => `present.${layer}.${part}`,
};

/** Score of masked positions: their softmax is 0. */
const masked = -1e9;
const largestInt = 2 ** 53;

/**
 * Returns the graph of a Qwen2 model's forward pass for one sequence in fp32, as the trainer computes it. Inputs: token ids [1, sequence], and keys
 * and values of earlier positions, [1, key-value heads, past, head size] per layer. Outputs: logits [1, kept, vocabulary], and all keys and values.
 */
export function qwen2Graph(config: ModelConfig, weightOf: WeightOf): OnnxGraph {
  const { hidden_size: hidden, vocab_size: vocabulary, num_hidden_layers: layers } = config;
  const graph = new Graph();
  const weight = (name: string, ...shape: number[]) => weightOf(graph, name, shape);
  const embedding = weight('model.embed_tokens.weight', vocabulary, hidden);
  const head = config.tie_word_embeddings ? embedding : weight('lm_head.weight', vocabulary, hidden);

  const rope = positions(graph, config);
  let stream = graph.node('Gather', [embedding, graph.node('Reshape', [names.ids, graph.ints([-1])])]);
  for (let layer = 0; layer < layers; layer += 1) stream = block(graph, config, layer, stream, rope, weight);

  const first = graph.node('Neg', [graph.node('Reshape', [names.keep, graph.ints([1])])]);
  const kept = graph.node('Slice', [stream, first, graph.ints([largestInt]), graph.ints([0])]);
  const normalized = norm(graph, kept, weight('model.norm.weight', hidden), config.rms_norm_eps);
  const logits = graph.node('Gemm', [normalized, head], { transB: 1 });
  graph.node('Unsqueeze', [logits, graph.ints([0])], {}, names.logits);

  const layerNumbers = Array.from({ length: layers }, (_, layer) => layer);
  const cache = (name: (layer: number, part: 'key' | 'value') => string, length: string) =>
    layerNumbers.flatMap((layer) =>
      (['key', 'value'] as const).map(
        (part): GraphValue => ({
          name: name(layer, part),
          type: 'float32',
          shape: [1, config.num_key_value_heads, length, config.head_dim],
        }),
      ),
    );
  return {
    name: 'qwen2',
    inputs: [
      { name: names.ids, type: 'int64', shape: [1, 'sequence'] },
      { name: names.keep, type: 'int64', shape: [] },
      ...cache(names.past, 'past'),
    ],
    outputs: [
      { name: names.logits, type: 'float32', shape: [1, 'kept', vocabulary] },
      ...cache(names.present, 'total'),
    ],
    initializers: graph.initializers,
    nodes: graph.nodes,
  };
}

/** Rotary embeddings of the new positions, [sequence, head size / 2], and their causal mask, [sequence, past + sequence]. */
interface Positions {
  cosines: string;
  sines: string;
  mask: string;
}

function positions(graph: Graph, { head_dim, rope_theta }: ModelConfig): Positions {
  const sizeOf = (value: string, axis: number) => graph.node('Gather', [graph.node('Shape', [value]), graph.int(axis)]);
  const past = sizeOf(names.past(0, 'key'), 2);
  const end = graph.node('Add', [past, sizeOf(names.ids, 1)]);
  const own = graph.node('Unsqueeze', [graph.node('Range', [past, end, graph.int(1)]), graph.ints([1])]);
  const all = graph.node('Unsqueeze', [graph.node('Range', [graph.int(0), end, graph.int(1)]), graph.ints([0])]);
  const visible = graph.node('LessOrEqual', [all, own]);
  const mask = graph.node('Where', [visible, graph.float(0), graph.float(masked)]);

  const half = head_dim / 2;
  const frequencies = Float32Array.from({ length: half }, (_, i) =>
    Math.exp((-Math.log(Math.fround(rope_theta)) * i) / half),
  );
  const angles = graph.node('Mul', [graph.node('Cast', [own], { to: 1 }), graph.floats(frequencies)]);
  return { cosines: graph.node('Cos', [angles]), sines: graph.node('Sin', [angles]), mask };
}

function block(
  graph: Graph,
  config: ModelConfig,
  layer: number,
  stream: string,
  rope: Positions,
  weight: (name: string, ...shape: number[]) => string,
): string {
  const { hidden_size: hidden, intermediate_size: inner, rms_norm_eps: epsilon } = config;
  const own = (name: string, ...shape: number[]) => weight(`model.layers.${layer}.${name}`, ...shape);
  const before = norm(graph, stream, own('input_layernorm.weight', hidden), epsilon);
  const attended = graph.node('Add', [stream, attention(graph, config, layer, before, rope, own)]);

  const between = norm(graph, attended, own('post_attention_layernorm.weight', hidden), epsilon);
  const gate = product(graph, between, own('mlp.gate_proj.weight', inner, hidden));
  const silu = graph.node('Mul', [gate, graph.node('Sigmoid', [gate])]);
  const up = product(graph, between, own('mlp.up_proj.weight', inner, hidden));
  const gated = graph.node('Mul', [silu, up]);
  return graph.node('Add', [attended, product(graph, gated, own('mlp.down_proj.weight', hidden, inner))]);
}

/** Grouped-query attention: consecutive query heads share one head of keys and values. */
function attention(
  graph: Graph,
  config: ModelConfig,
  layer: number,
  input: string,
  { cosines, sines, mask }: Positions,
  own: (name: string, ...shape: number[]) => string,
): string {
  const { hidden_size: hidden, num_attention_heads: heads, num_key_value_heads: shared, head_dim } = config;
  const projected = (name: string, count: number) => {
    const width = count * head_dim;
    const weight = own(`self_attn.${name}_proj.weight`, width, hidden);
    const flat = product(graph, input, weight, own(`self_attn.${name}_proj.bias`, width));
    const split = graph.node('Reshape', [flat, graph.ints([-1, count, head_dim])]);
    return graph.node('Transpose', [split], { perm: [1, 0, 2] });
  };
  const rotated = (value: string) => {
    const [a, b] = graph.halves(value, head_dim);
    const times = (x: string, y: string) => graph.node('Mul', [x, y]);
    const left = graph.node('Sub', [times(a, cosines), times(b, sines)]);
    const right = graph.node('Add', [times(b, cosines), times(a, sines)]);
    return graph.node('Concat', [left, right], { axis: -1 });
  };
  const cached = (part: 'key' | 'value', value: string) => {
    const added = graph.node('Unsqueeze', [value, graph.ints([0])]);
    const name = names.present(layer, part);
    graph.node('Concat', [names.past(layer, part), added], { axis: 2 }, name);
    return graph.node('Reshape', [name, graph.ints([shared, 1, -1, head_dim])]);
  };
  const query = graph.node('Mul', [rotated(projected('q', heads)), graph.float(1 / Math.sqrt(head_dim))]);
  const queries = graph.node('Reshape', [query, graph.ints([shared, heads / shared, -1, head_dim])]);
  const keys = graph.node('Transpose', [cached('key', rotated(projected('k', shared)))], {
    perm: [0, 1, 3, 2],
  });
  const values = cached('value', projected('v', shared));
  const scores = graph.node('Add', [graph.node('MatMul', [queries, keys]), mask]);
  const mixed = graph.node('MatMul', [graph.node('Softmax', [scores], { axis: -1 }), values]);
  const merged = graph.node('Transpose', [mixed], { perm: [2, 0, 1, 3] });
  const flat = graph.node('Reshape', [merged, graph.ints([-1, heads * head_dim])]);
  return product(graph, flat, own('self_attn.o_proj.weight', hidden, heads * head_dim));
}

/** Multiplies rows by a weight [outputs, inputs]. */
function product(graph: Graph, input: string, weight: string, bias?: string): string {
  return graph.node('Gemm', bias ? [input, weight, bias] : [input, weight], { transB: 1 });
}

/** Applies RMSNorm to each row. */
function norm(graph: Graph, input: string, weight: string, epsilon: number): string {
  const squares = graph.node('Mul', [input, input]);
  const mean = graph.node('ReduceMean', [squares], { axes: [-1], keepdims: 1 });
  const scale = graph.node('Sqrt', [graph.node('Add', [mean, graph.float(epsilon)])]);
  return graph.node('Mul', [graph.node('Div', [input, scale]), weight]);
}
