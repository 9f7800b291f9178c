import type { ModelConfig } from '../../models/model-config.ts';
import { Graph } from './graph.ts';
import type { GraphValue, OnnxGraph } from './message.ts';

/** Gives the value's name that holds a weight, as fp32, in the given shape. */
export type WeightOf = (graph: Graph, name: string, shape: readonly number[]) => string;

/** Names of the graph's inputs and outputs, those that other programs expect of a decoder with a cache. */
export const names = {
  ids: 'input_ids',
  /** How many of the last positions to give logits of; 0: of all. */
  keep: 'num_logits_to_keep',
  logits: 'logits',
  past: (layer: number, what: 'key' | 'value') => `past_key_values.${layer}.${what}`,
  present: (layer: number, what: 'key' | 'value') => `present.${layer}.${what}`,
};

/** Added to the scores of what a position may not see: large enough that nothing is left of it. */
const unseen = -1e9;
const largestInt = 2 ** 53;

/**
 * A Qwen2 model's forward pass for one sequence, in fp32, as the trainer computes it: token ids [1, sequence] and the keys and values of the positions before them,
 * [1, key-value heads, past, head size] for each layer, to logits [1, kept, vocabulary] and the keys and values up to here.
 */
export function qwen2Graph(config: ModelConfig, weightOf: WeightOf): OnnxGraph {
  const { hidden_size: hidden, vocab_size: vocabulary, num_hidden_layers: layers } = config;
  const graph = new Graph();
  const weight = (name: string, ...shape: number[]) => weightOf(graph, name, shape);
  const embedding = weight('model.embed_tokens.weight', vocabulary, hidden);
  const head = config.tie_word_embeddings ? embedding : weight('lm_head.weight', vocabulary, hidden);

  const places = positions(graph, config);
  let stream = graph.node('Gather', [embedding, graph.node('Reshape', [names.ids, graph.ints([-1])])]);
  for (let layer = 0; layer < layers; layer += 1)
    stream = block(graph, config, layer, stream, places, weight);

  const first = graph.node('Neg', [graph.node('Reshape', [names.keep, graph.ints([1])])]);
  const kept = graph.node('Slice', [stream, first, graph.ints([largestInt]), graph.ints([0])]);
  const normal = norm(graph, kept, weight('model.norm.weight', hidden), config.rms_norm_eps);
  const logits = graph.node('Gemm', [normal, head], { transB: 1 });
  graph.node('Unsqueeze', [logits, graph.ints([0])], {}, names.logits);

  const each = Array.from({ length: layers }, (_, layer) => layer);
  const cache = (name: (layer: number, what: 'key' | 'value') => string, length: string) =>
    each.flatMap((layer) =>
      (['key', 'value'] as const).map(
        (what): GraphValue => ({
          name: name(layer, what),
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

/** What follows from where the new positions are: their rotation, [sequence, head size / 2], and what they may see, [sequence, past + sequence]. */
interface Positions {
  cosines: string;
  sines: string;
  mask: string;
}

function positions(graph: Graph, { head_dim, rope_theta }: ModelConfig): Positions {
  const sizeOf = (value: string, axis: number) =>
    graph.node('Gather', [graph.node('Shape', [value]), graph.int(axis)]);
  const past = sizeOf(names.past(0, 'key'), 2);
  const end = graph.node('Add', [past, sizeOf(names.ids, 1)]);
  const own = graph.node('Unsqueeze', [graph.node('Range', [past, end, graph.int(1)]), graph.ints([1])]);
  const all = graph.node('Unsqueeze', [
    graph.node('Range', [graph.int(0), end, graph.int(1)]),
    graph.ints([0]),
  ]);
  const seen = graph.node('LessOrEqual', [all, own]);
  const mask = graph.node('Where', [seen, graph.float(0), graph.float(unseen)]);

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
  places: Positions,
  weight: (name: string, ...shape: number[]) => string,
): string {
  const { hidden_size: hidden, intermediate_size: inner, rms_norm_eps: epsilon } = config;
  const own = (name: string, ...shape: number[]) => weight(`model.layers.${layer}.${name}`, ...shape);
  const before = norm(graph, stream, own('input_layernorm.weight', hidden), epsilon);
  const attended = graph.node('Add', [stream, attention(graph, config, layer, before, places, own)]);

  const between = norm(graph, attended, own('post_attention_layernorm.weight', hidden), epsilon);
  const gate = product(graph, between, own('mlp.gate_proj.weight', inner, hidden));
  const silu = graph.node('Mul', [gate, graph.node('Sigmoid', [gate])]);
  const up = product(graph, between, own('mlp.up_proj.weight', inner, hidden));
  const gated = graph.node('Mul', [silu, up]);
  return graph.node('Add', [attended, product(graph, gated, own('mlp.down_proj.weight', hidden, inner))]);
}

/** Grouped-query attention: `groups` heads of queries share a head of keys and values, side by side as the heads are numbered. */
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
    const apart = graph.node('Reshape', [flat, graph.ints([-1, count, head_dim])]);
    return graph.node('Transpose', [apart], { perm: [1, 0, 2] });
  };
  const rotated = (value: string) => {
    const [a, b] = graph.halves(value, head_dim);
    const times = (x: string, y: string) => graph.node('Mul', [x, y]);
    const left = graph.node('Sub', [times(a, cosines), times(b, sines)]);
    const right = graph.node('Add', [times(b, cosines), times(a, sines)]);
    return graph.node('Concat', [left, right], { axis: -1 });
  };
  const cached = (what: 'key' | 'value', value: string) => {
    const fresh = graph.node('Unsqueeze', [value, graph.ints([0])]);
    const name = names.present(layer, what);
    graph.node('Concat', [names.past(layer, what), fresh], { axis: 2 }, name);
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
  const together = graph.node('Transpose', [mixed], { perm: [2, 0, 1, 3] });
  const flat = graph.node('Reshape', [together, graph.ints([-1, heads * head_dim])]);
  return product(graph, flat, own('self_attn.o_proj.weight', hidden, heads * head_dim));
}

/** Rows times a weight of [outputs, inputs]. */
function product(graph: Graph, input: string, weight: string, bias?: string): string {
  return graph.node('Gemm', bias ? [input, weight, bias] : [input, weight], { transB: 1 });
}

/** RMSNorm of each row. */
function norm(graph: Graph, input: string, weight: string, epsilon: number): string {
  const squares = graph.node('Mul', [input, input]);
  const mean = graph.node('ReduceMean', [squares], { axes: [-1], keepdims: 1 });
  const scale = graph.node('Sqrt', [graph.node('Add', [mean, graph.float(epsilon)])]);
  return graph.node('Mul', [graph.node('Div', [input, scale]), weight]);
}
