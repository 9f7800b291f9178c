#pragma once

#include <vector>

#include "model/parameters.h"

namespace starpo {

// Where a layer's tensors begin in the flat buffer. qkv, its bias and gate_up span neighbouring tensors.
struct LayerOffsets {
  std::size_t input_norm, qkv, qkv_bias, output, mlp_norm, gate_up, down;
};

struct ModelOffsets {
  std::size_t embedding, final_norm;
  std::size_t head;       // that of the embedding where they are tied
  std::size_t head_bias;  // of a value head
  std::vector<LayerOffsets> layers;
};

ModelOffsets model_offsets(const ParameterLayout&);

// Widths that follow from a config.
struct Widths {
  explicit Widths(const ModelConfig& c)
      : hidden(c.hidden_size), intermediate(c.intermediate_size), vocab(c.vocab_size), head_dim(c.head_dim), heads(c.num_attention_heads),
        kv_heads(c.num_key_value_heads), group(heads / kv_heads), queries(heads * head_dim), keys(kv_heads * head_dim), qkv(queries + 2 * keys) {}
  int hidden, intermediate, vocab, head_dim, heads, kv_heads;
  int group;    // query heads to a key-value head
  int queries;  // columns of all query heads
  int keys;     // columns of all key heads, and of all value heads
  int qkv;      // of one row [queries | keys | values]
};

}  // namespace starpo
