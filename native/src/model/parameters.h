#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "model/config.h"

namespace starpo {

// One tensor of the model inside the flat buffer. Names and shapes are Hugging Face's, so a saved folder loads
// elsewhere unchanged.
struct TensorSlot {
  std::string name;                 // "model.layers.0.self_attn.q_proj.weight"
  std::vector<std::int64_t> shape;  // row-major
  std::size_t offset;               // in floats
  std::size_t size;
};

// What the last hidden states are read by: the policy's distribution over the vocabulary, or a critic's value. The
// latter's tensors have the names of Hugging Face's Qwen2ForTokenClassification with one label.
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
      : hidden(c.hidden_size),
        intermediate(c.intermediate_size),
        vocab(c.vocab_size),
        head_dim(c.head_dim),
        heads(c.num_attention_heads),
        kv_heads(c.num_key_value_heads),
        group(heads / kv_heads),
        queries(heads * head_dim),
        keys(kv_heads * head_dim),
        qkv(queries + 2 * keys) {}
  int hidden, intermediate, vocab, head_dim, heads, kv_heads;
  int group;    // query heads to a key-value head
  int queries;  // columns of all query heads
  int keys;     // columns of all key heads, and of all value heads
  int qkv;      // of one row [queries | keys | values]
};

// [weights] 1 where weight decay applies: matrices, but no norms and biases.
std::vector<std::uint8_t> decayed_weights(std::span<const TensorSlot>);

// Normal(0, 0.02) matrices and embeddings (output projections scaled by 1/sqrt(2 layers)), zero biases, unit norms;
// Philox initial_weights stream. The same bits on any number of threads.
std::vector<float> initial_weights(const ParameterLayout&, std::uint32_t seed, ThreadPool&);
std::vector<float> initial_weights(const ParameterLayout&, std::uint32_t seed);

// Numbers of the layout's order that come and go in pieces of a bounded size, so that no second copy of a model is ever
// held.
using ReadWeights =
    std::function<void(std::size_t first, std::span<float>)>;  // fills the span with numbers [first, first + its size)
using WriteWeights = std::function<void(std::size_t first, std::span<const float>)>;  // takes them

// The same weights in pieces.
void write_initial_weights(const ParameterLayout&, std::uint32_t seed, ThreadPool&, const WriteWeights&);

// Hands the numbers of [first, first + count) over in pieces, in order.
void copy_in_pieces(std::size_t first, std::size_t count, const ReadWeights& from, const WriteWeights& to);

}  // namespace starpo
