#include "model/parameters.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/philox.h"
#include "base/reproducible_math.h"

namespace starpo {

// Query, key and value weights lie side by side, as do their biases and gate and up: each group is one matrix to the kernels.
ParameterLayout::ParameterLayout(const ModelConfig& config, ModelHead head) : config_(config), head_(head) {
  const std::int64_t hidden = config.hidden_size, intermediate = config.intermediate_size;
  const std::int64_t queries = std::int64_t{config.num_attention_heads} * config.head_dim;
  const std::int64_t keys = std::int64_t{config.num_key_value_heads} * config.head_dim;
  const auto declare = [this](std::string name, std::vector<std::int64_t> shape) {
    std::size_t size = 1;
    for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
    tensors_.push_back({std::move(name), std::move(shape), size_, size});
    size_ += size;
  };
  declare("model.embed_tokens.weight", {config.vocab_size, hidden});
  for (int layer = 0; layer < config.num_hidden_layers; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    declare(prefix + "input_layernorm.weight", {hidden});
    declare(prefix + "self_attn.q_proj.weight", {queries, hidden});
    declare(prefix + "self_attn.k_proj.weight", {keys, hidden});
    declare(prefix + "self_attn.v_proj.weight", {keys, hidden});
    declare(prefix + "self_attn.q_proj.bias", {queries});
    declare(prefix + "self_attn.k_proj.bias", {keys});
    declare(prefix + "self_attn.v_proj.bias", {keys});
    declare(prefix + "self_attn.o_proj.weight", {hidden, queries});
    declare(prefix + "post_attention_layernorm.weight", {hidden});
    declare(prefix + "mlp.gate_proj.weight", {intermediate, hidden});
    declare(prefix + "mlp.up_proj.weight", {intermediate, hidden});
    declare(prefix + "mlp.down_proj.weight", {hidden, intermediate});
  }
  declare("model.norm.weight", {hidden});
  if (head == ModelHead::value) {
    declare("score.weight", {1, hidden});
    declare("score.bias", {1});
  } else if (!config.tie_word_embeddings) {
    declare("lm_head.weight", {config.vocab_size, hidden});
  }
}

const TensorSlot& ParameterLayout::find(const std::string& name) const {
  for (const TensorSlot& tensor : tensors_)
    if (tensor.name == name) return tensor;
  throw std::out_of_range("no tensor " + name);
}

std::vector<std::uint8_t> decayed_weights(const ParameterLayout& layout) {
  std::vector<std::uint8_t> decayed(layout.size(), 0);
  for (const TensorSlot& tensor : layout.tensors())
    if (tensor.shape.size() > 1) std::fill_n(decayed.begin() + static_cast<std::ptrdiff_t>(tensor.offset), tensor.size, 1);
  return decayed;
}

namespace {

// Box-Muller: two draws of a counter give two normals. Pairs [first, end) of a tensor's values.
void draw_normals(const Philox& random, std::uint32_t tensor, double deviation, std::span<float> values, std::size_t first, std::size_t end) {
  for (std::size_t pair = first; pair < end; ++pair) {
    const auto bits = random(tensor, static_cast<std::uint32_t>(pair), 0, 0);
    const double radius = deviation * std::sqrt(-2 * reproducible_log(uniform_open(bits[0])));
    const double angle = 6.283185307179586 * uniform_open(bits[1]);
    values[2 * pair] = static_cast<float>(radius * reproducible_cos(angle));
    if (2 * pair + 1 < values.size()) values[2 * pair + 1] = static_cast<float>(radius * reproducible_sin(angle));
  }
}

}  // namespace

std::vector<float> initial_weights(const ParameterLayout& layout, std::uint32_t seed, ThreadPool& threads) {
  constexpr std::size_t pairs_at_a_time = 1 << 16;
  const Philox random{seed, RandomStream::initial_weights};
  const double output_scale = 1 / std::sqrt(2.0 * layout.config().num_hidden_layers);
  std::vector<float> weights(layout.size());
  for (std::size_t index = 0; index < layout.tensors().size(); ++index) {
    const TensorSlot& tensor = layout.tensors()[index];
    const std::span<float> values = std::span(weights).subspan(tensor.offset, tensor.size);
    if (tensor.shape.size() == 1) {
      std::ranges::fill(values, tensor.name.ends_with(".bias") ? 0.0f : 1.0f);
      continue;
    }
    const bool output = tensor.name.ends_with("o_proj.weight") || tensor.name.ends_with("down_proj.weight");
    const double deviation = 0.02 * (output ? output_scale : 1.0);
    const std::size_t pairs = (values.size() + 1) / 2, parts = (pairs + pairs_at_a_time - 1) / pairs_at_a_time;
    threads.parallel_for(static_cast<int>(parts), [&](int part) {
      const std::size_t first = static_cast<std::size_t>(part) * pairs_at_a_time;
      draw_normals(random, static_cast<std::uint32_t>(index), deviation, values, first, std::min(pairs, first + pairs_at_a_time));
    });
  }
  return weights;
}

std::vector<float> initial_weights(const ParameterLayout& layout, std::uint32_t seed) {
  ThreadPool alone(1);
  return initial_weights(layout, seed, alone);
}

}  // namespace starpo
