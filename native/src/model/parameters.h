#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "model/config.h"

namespace starpo {

// One tensor of the model inside the flat buffer. Names and shapes are Hugging Face's, so a saved folder loads elsewhere unchanged.
struct TensorSlot {
  std::string name;             // "model.layers.0.self_attn.q_proj.weight"
  std::vector<std::int64_t> shape;  // row-major
  std::size_t offset;           // in floats
  std::size_t size;
};

// What the last hidden states are read by: the policy's distribution over the vocabulary, or a critic's value. The latter's tensors have the names
// of Hugging Face's Qwen2ForTokenClassification with one label.
enum class ModelHead { language, value };

// The order of all tensors in one flat fp32 buffer: weights, gradients and both AdamW moments share it.
class ParameterLayout {
 public:
  explicit ParameterLayout(const ModelConfig&, ModelHead = ModelHead::language);

  const ModelConfig& config() const { return config_; }
  ModelHead head() const { return head_; }
  const std::vector<TensorSlot>& tensors() const { return tensors_; }
  std::size_t size() const { return size_; }
  const TensorSlot& find(const std::string& name) const;

 private:
  ModelConfig config_;
  ModelHead head_;
  std::vector<TensorSlot> tensors_;
  std::size_t size_ = 0;
};

// [weights] 1 where weight decay applies: matrices, but no norms and biases.
std::vector<std::uint8_t> decayed_weights(const ParameterLayout&);

// Normal(0, 0.02) matrices and embeddings (output projections scaled by 1/sqrt(2 layers)), zero biases, unit norms; Philox initial_weights stream. The
// same bits on any number of threads.
std::vector<float> initial_weights(const ParameterLayout&, std::uint32_t seed, ThreadPool&);
std::vector<float> initial_weights(const ParameterLayout&, std::uint32_t seed);

}  // namespace starpo
