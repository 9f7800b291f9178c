#include "engine/cpu/layer_offsets.h"

#include <string>

namespace starpo {

ModelOffsets model_offsets(const ParameterLayout& layout) {
  ModelOffsets offsets{layout.find("model.embed_tokens.weight").offset, layout.find("model.norm.weight").offset, 0, 0, {}};
  if (layout.head() == ModelHead::value) {
    offsets.head = layout.find("score.weight").offset;
    offsets.head_bias = layout.find("score.bias").offset;
  } else {
    offsets.head = layout.config().tie_word_embeddings ? offsets.embedding : layout.find("lm_head.weight").offset;
  }
  for (int layer = 0; layer < layout.config().num_hidden_layers; ++layer) {
    const auto at = [&](const char* name) { return layout.find("model.layers." + std::to_string(layer) + "." + name).offset; };
    offsets.layers.push_back({at("input_layernorm.weight"), at("self_attn.q_proj.weight"), at("self_attn.q_proj.bias"),
                              at("self_attn.o_proj.weight"), at("post_attention_layernorm.weight"), at("mlp.gate_proj.weight"),
                              at("mlp.down_proj.weight")});
  }
  return offsets;
}

}  // namespace starpo
