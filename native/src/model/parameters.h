#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/config.h"

namespace starpo {

class ThreadPool;

// A tensor of the model in the flat buffer. Names and shapes are those of Hugging Face, so saved folders load in other
// tools.
struct TensorSlot {
  std::string name;                 // "model.layers.0.self_attn.q_proj.weight"
  std::vector<std::int64_t> shape;  // row-major
  std::size_t offset;               // in floats
  std::size_t size;
};

// The head on the last hidden states: the policy's language model head, or a critic's value head, whose tensors are
// named as in Hugging Face's Qwen2ForTokenClassification with one label.
enum class ModelHead { language, value };

// The order of all tensors in a flat fp32 buffer. Weights, gradients and both AdamW moments use the same order.
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

// Offsets of a layer's tensors in the flat buffer. qkv, qkv_bias and gate_up span adjacent tensors.
struct LayerOffsets {
  std::size_t input_norm, qkv, qkv_bias, output, mlp_norm, gate_up, down;
};

struct ModelOffsets {
  std::size_t embedding, final_norm;
  std::size_t head;       // equals embedding if they are tied
  std::size_t head_bias;  // value head only
  std::vector<LayerOffsets> layers;
};

ModelOffsets model_offsets(const ParameterLayout&);

// Widths derived from a config.
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
  int group;    // query heads per key-value head
  int queries;  // columns of all query heads
  int keys;     // columns of all key heads, and of all value heads
  int qkv;      // of one row [queries | keys | values]
};

// Returns a mask [weights] that is 1 where weight decay applies: matrices, but not norms and biases.
std::vector<std::uint8_t> decayed_weights(std::span<const TensorSlot>);

// Reads or writes a chunk of the flat buffer, so that no second copy of a model is needed.
using ReadWeights =
    std::function<void(std::size_t first, std::span<float>)>;  // fills the span with elements [first, first + size)
using WriteWeights = std::function<void(std::size_t first, std::span<const float>)>;

// Draws initial weights: matrices and embeddings from Normal(0, 0.02), output projections scaled by 1/sqrt(2 layers),
// biases 0, norms 1. The bits depend only on the seed (Philox stream initial_weights), not on the number of threads.
void write_initial_weights(const ParameterLayout&, std::uint32_t seed, ThreadPool&, const WriteWeights&);

// Copies elements [first, first + count) in chunks, in order.
void copy_in_chunks(std::size_t first, std::size_t count, const ReadWeights& from, const WriteWeights& to);

}  // namespace starpo
