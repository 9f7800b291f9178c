#pragma once

#include <vector>

#include "engine/cpu/packed_weights.h"
#include "engine/cpu/rope.h"
#include "engine/cpu/training_pass.h"

namespace starpo {

// What the forward pass of one block leaves for its backward pass. Everything else is computed again from these.
struct LayerActivations {
  float* x;                       // [tokens, hidden], the block's input
  float* input_reciprocal_rms;    // [tokens]
  float* qkv;                     // [tokens, Widths::qkv], rotated
  float* score_maximum;           // [heads, tokens]
  float* score_reciprocal;        // [heads, tokens]
  float* attended;                // [tokens, queries]
  float* middle;                  // [tokens, hidden], between attention and MLP
  float* middle_reciprocal_rms;   // [tokens]
  float* gate_up;                 // [tokens, 2 * intermediate]
};

// Gradients that live during a backward pass; a layer's, but for `x`, give way to the next one's.
struct BackwardBuffers {
  float* x;            // [tokens, hidden], of the layer's output and then of its input
  float* middle;       // [tokens, hidden]
  float* mlp_normed;   // [tokens, hidden], with its normed input and hidden units, recomputed
  float* mlp_input;
  float* hidden;       // [tokens, intermediate]
  float* gate_up;      // [tokens, 2 * intermediate]
  float* attended;     // [tokens, queries]
  float* qkv;          // [tokens, Widths::qkv]
  float* normed;       // [tokens, hidden]
  float* input;        // [tokens, hidden], normed input recomputed
  float* head_normed;  // [targets, hidden]
};

struct TrainingPass::State {
  explicit State(const Model& m) : model(m), width(m.layout().config()) {}

  const Model& model;
  Widths width;
  RotaryTable rotary;
  AlignedBuffer activations, gradients_memory;

  PackedBatch batch;
  float inverse_temperature = 1;
  int tokens = 0, targets = 0, longest = 0;
  std::vector<std::int32_t> positions;      // [tokens]
  std::vector<std::int32_t> target_tokens;  // [targets]
  std::vector<std::int32_t> target_starts;  // [sequences + 1], each sequence's targets
  std::vector<LayerActivations> layers;
  float* final_x;               // [tokens, hidden]
  float* head_x;                // [targets, hidden], the rows that predict targets
  float* head_reciprocal_rms;   // [targets]
  float* head_normed;           // [targets, hidden]
  float* logits;                // [targets, vocab]; backward leaves their gradient. With a value head [targets], the values' gradients alone
  float *logit_maximum, *log_sum, *entropy;  // [targets]
  BackwardBuffers grad;

  int sequences() const { return static_cast<int>(batch.sequence_starts.size()) - 1; }
  float attention_scale() const;

  void prepare(const PackedBatch&);
  void embed(int first, int rows);
  void attend(int layer, int sequence, int kv_head);
  void normed_rows(int first, int rows);
  void value_head(int first, int rows, float* values);
  void head(int first, int rows, float* logprobs, float* entropies);

  void prepare_backward();
  void logit_gradient(int first, int rows, const float* logprob_gradients, const float* entropy_gradients);
  void head_backward(int first, int rows);
  void mlp_backward(int layer, int first, int rows);
  void attention_backward(int layer, int sequence, int kv_head);
  void input_backward(int layer, int first, int rows);
  void embedding_gradient(int first_row, int rows, float* gradients);
};

// Rows of one task: enough for the kernels' tiles, few enough for the caches and an even load.
inline constexpr int kRowBlock = 96;
inline int row_blocks(int rows) { return (rows + kRowBlock - 1) / kRowBlock; }

}  // namespace starpo
