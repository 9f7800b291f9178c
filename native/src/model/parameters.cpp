#include "model/parameters.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/philox.h"
#include "base/reproducible_math.h"
#include "base/thread_pool.h"

namespace starpo {

// Query, key and value weights are adjacent, as are their biases, and gate and up: kernels multiply each group as one
// matrix.
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

ModelOffsets model_offsets(const ParameterLayout& layout) {
  ModelOffsets offsets{
      layout.find("model.embed_tokens.weight").offset, layout.find("model.norm.weight").offset, 0, 0, {}};
  if (layout.head() == ModelHead::value) {
    offsets.head = layout.find("score.weight").offset;
    offsets.head_bias = layout.find("score.bias").offset;
  } else {
    offsets.head = layout.config().tie_word_embeddings ? offsets.embedding : layout.find("lm_head.weight").offset;
  }
  for (int layer = 0; layer < layout.config().num_hidden_layers; ++layer) {
    const auto at = [&](const char* name) {
      return layout.find("model.layers." + std::to_string(layer) + "." + name).offset;
    };
    offsets.layers.push_back({at("input_layernorm.weight"), at("self_attn.q_proj.weight"), at("self_attn.q_proj.bias"),
                              at("self_attn.o_proj.weight"), at("post_attention_layernorm.weight"),
                              at("mlp.gate_proj.weight"), at("mlp.down_proj.weight")});
  }
  return offsets;
}

std::vector<std::uint8_t> decayed_weights(std::span<const TensorSlot> tensors) {
  std::vector<std::uint8_t> decayed(tensors.empty() ? 0 : tensors.back().offset + tensors.back().size, 0);
  for (const TensorSlot& tensor : tensors)
    if (tensor.shape.size() > 1)
      std::fill_n(decayed.begin() + static_cast<std::ptrdiff_t>(tensor.offset), tensor.size, 1);
  return decayed;
}

namespace {

// 4 MiB. Even, because initial weights are drawn in pairs.
constexpr std::size_t kChunkFloats = std::size_t{1} << 20;

// Draws elements [first, first + values.size()) of the layout's tensor `index`. `first` must be even.
void draw_initial(const ParameterLayout& layout, std::size_t index, const Philox& random, std::size_t first,
                  std::span<float> values) {
  const TensorSlot& tensor = layout.tensors()[index];
  if (tensor.shape.size() == 1) {
    std::ranges::fill(values, tensor.name.ends_with(".bias") ? 0.0f : 1.0f);
    return;
  }
  const bool output = tensor.name.ends_with("o_proj.weight") || tensor.name.ends_with("down_proj.weight");
  const double output_scale = 1 / std::sqrt(2.0 * layout.config().num_hidden_layers);
  const double deviation = 0.02 * (output ? output_scale : 1.0);
  // Box-Muller: two uniform draws give two normal values.
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const auto bits = random(static_cast<std::uint32_t>(index), static_cast<std::uint32_t>((first + i) / 2), 0, 0);
    const double radius = deviation * std::sqrt(-2 * reproducible_log(uniform_open(bits[0])));
    const double angle = 6.283185307179586 * uniform_open(bits[1]);
    values[i] = static_cast<float>(radius * reproducible_cos(angle));
    if (i + 1 < values.size()) values[i + 1] = static_cast<float>(radius * reproducible_sin(angle));
  }
}

}  // namespace

void copy_in_chunks(std::size_t first, std::size_t count, const ReadWeights& from, const WriteWeights& to) {
  std::vector<float> chunk(std::min(kChunkFloats, count));
  for (const std::size_t end = first + count; first < end; first += chunk.size()) {
    chunk.resize(std::min(kChunkFloats, end - first));
    from(first, chunk);
    to(first, chunk);
  }
}

void write_initial_weights(const ParameterLayout& layout, std::uint32_t seed, ThreadPool& threads,
                           const WriteWeights& to) {
  constexpr std::size_t task = 1 << 16;  // elements, even
  const Philox random{seed, RandomStream::initial_weights};
  for (std::size_t index = 0; index < layout.tensors().size(); ++index) {
    const TensorSlot& tensor = layout.tensors()[index];
    const auto draw = [&](std::size_t first, std::span<float> values) {
      threads.parallel_for(static_cast<int>((values.size() + task - 1) / task), [&](int i) {
        const std::size_t begin = i * task;
        draw_initial(layout, index, random, first - tensor.offset + begin,
                     values.subspan(begin, std::min(task, values.size() - begin)));
      });
    };
    copy_in_chunks(tensor.offset, tensor.size, draw, to);
  }
}

}  // namespace starpo
