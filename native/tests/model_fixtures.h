#pragma once

#include <cstring>
#include <vector>

#include "base/philox.h"
#include "engine/cpu/kernels/isa.h"
#include "engine/cpu/model.h"
#include "engine/cpu/training_pass.h"
#include "initial_weights.h"

namespace starpo {

// Small shapes with tails in every dimension: no width is a multiple of 16, except head dimensions for the fast path of
// decode.
struct Shape {
  int heads, kv_heads, head_dim;
  bool tied;
};

inline ModelConfig small_config(const Shape& shape) {
  ModelConfig c;
  c.vocab_size = 37;
  c.hidden_size = 20;
  c.intermediate_size = 43;
  c.num_hidden_layers = 2;
  c.num_attention_heads = shape.heads;
  c.num_key_value_heads = shape.kv_heads;
  c.head_dim = shape.head_dim;
  c.max_position_embeddings = 512;
  c.rope_theta = 1000;
  c.rms_norm_eps = 1e-6f;
  c.tie_word_embeddings = shape.tied;
  return c;
}

inline float random_value(std::uint32_t what, std::uint32_t index) {
  return 2 * uniform_open(Philox{5, RandomStream::environment_noise}(what, index, 0, 0)[0]) - 1;
}

// Weights so large that attention and gates are far from linear. Biases and norms vary too.
inline std::vector<float> large_weights(const ParameterLayout& layout) {
  std::vector<float> weights(layout.size());
  for (const TensorSlot& tensor : layout.tensors())
    for (std::size_t i = 0; i < tensor.size; ++i) {
      const bool norm = tensor.name.find("norm") != std::string::npos;
      weights[tensor.offset + i] =
          (norm ? 1.0f : 0.0f) + 0.4f * random_value(1, static_cast<std::uint32_t>(tensor.offset + i));
    }
  return weights;
}

inline void load(CpuModel& model, const std::vector<float>& weights) {
  std::copy(weights.begin(), weights.end(), model.mutable_weights().begin());
  model.weights_changed();
}

// Returns sequences of these lengths with random tokens. Two of three tokens are targets.
inline PackedBatch random_batch(const ModelConfig& config, const std::vector<int>& lengths) {
  PackedBatch batch;
  batch.sequence_starts.push_back(0);
  for (const int length : lengths) {
    for (int i = 0; i < length; ++i) {
      const auto index = static_cast<std::int32_t>(batch.tokens.size());
      if (i > 0 && index % 3 != 0) batch.targets.push_back(index);
      batch.tokens.push_back(static_cast<std::int32_t>((random_value(2, index) + 1) / 2 * config.vocab_size));
    }
    batch.sequence_starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
  }
  return batch;
}

inline std::vector<float> random_values(std::uint32_t what, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = random_value(what, static_cast<std::uint32_t>(i));
  return values;
}

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

inline std::vector<Isa> supported_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512})
    if (isa_supported(isa)) isas.push_back(isa);
  return isas;
}

// Selects an instruction set until the end of the scope.
class WithIsa {
 public:
  explicit WithIsa(Isa isa) : before_(selected_isa()) { select_isa(isa); }
  ~WithIsa() { select_isa(before_); }

 private:
  Isa before_;
};

struct TrainingResult {
  std::vector<float> logprobs, entropies, gradients;
};

// Runs forward and backward passes of the batches in order. The gradients of a target depend only on its index.
inline TrainingResult train(const CpuModel& model, const std::vector<PackedBatch>& batches, float temperature) {
  TrainingResult result;
  result.gradients.resize(model.layout().size());
  CpuTrainingPass pass(model);
  for (const PackedBatch& batch : batches) {
    const std::size_t first = result.logprobs.size(), count = batch.targets.size();
    result.logprobs.resize(first + count);
    result.entropies.resize(first + count);
    pass.forward(batch, temperature, std::span(result.logprobs).subspan(first),
                 std::span(result.entropies).subspan(first));
    const auto logprob_gradients = random_values(3, first + count), entropy_gradients = random_values(4, first + count);
    pass.backward(std::span(logprob_gradients).subspan(first), std::span(entropy_gradients).subspan(first),
                  result.gradients);
  }
  return result;
}

}  // namespace starpo
