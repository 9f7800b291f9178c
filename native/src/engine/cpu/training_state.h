#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/aligned_buffer.h"
#include "engine/cpu/training_pass.h"
#include "engine/rotary_table.h"

// The activations and gradients of CpuTrainingPass. training_pass.cpp has the forward pass, training_backward.cpp the
// backward pass.
namespace starpo {

// Rows per task: enough for the tiles of kernels, few enough for caches and load balance.
inline constexpr int kRowBlock = 96;
inline int row_blocks(int rows) { return (rows + kRowBlock - 1) / kRowBlock; }

// Activations of a block for the backward pass, which recomputes all others. With NetworkUse::read, all layers share
// them.
struct LayerActivations {
  float* x;                      // [tokens, hidden], the block's input
  float* input_reciprocal_rms;   // [tokens]
  float* qkv;                    // [tokens, Widths::qkv], rotated
  float* score_maximum;          // [heads, tokens]
  float* score_reciprocal;       // [heads, tokens]
  float* attended;               // [tokens, queries]
  float* middle;                 // [tokens, hidden], between attention and MLP
  float* middle_reciprocal_rms;  // [tokens]
  float* gate_up;                // [tokens, 2 * intermediate]
};

// Gradients of a backward pass. Layers reuse all buffers except `x`.
struct BackwardBuffers {
  float* x;            // [tokens, hidden], of the layer's output, then of its input
  float* middle;       // [tokens, hidden]
  float* mlp_normed;   // [tokens, hidden]
  float* mlp_input;    // [tokens, hidden], the normed input of the MLP (recomputed, not a gradient)
  float* hidden;       // [tokens, intermediate], the hidden units (recomputed, not a gradient)
  float* gate_up;      // [tokens, 2 * intermediate]
  float* attended;     // [tokens, queries]
  float* qkv;          // [tokens, Widths::qkv]
  float* normed;       // [tokens, hidden]
  float* input;        // [tokens, hidden], the normed input of attention (recomputed, not a gradient)
  float* head_normed;  // [targets, hidden]
};

// Return the sizes in floats of LayerActivations, of the head's buffers and of BackwardBuffers, for t tokens and g
// targets.
inline std::array<std::size_t, 9> layer_sizes(const Widths& w, std::size_t t) {
  return {t * w.hidden, t, t * w.qkv, t * w.heads, t * w.heads, t * w.queries, t * w.hidden, t, t * 2 * w.intermediate};
}
inline std::array<std::size_t, 8> head_sizes(const Widths& w, std::size_t t, std::size_t g, std::size_t outputs) {
  return {t * w.hidden, g * w.hidden, g, g * w.hidden, g * outputs, g, g, g};
}
inline std::array<std::size_t, 11> backward_sizes(const Widths& w, std::size_t t, std::size_t g) {
  const std::size_t h = t * w.hidden;
  return {h, h, h, h, t * w.intermediate, t * 2 * w.intermediate, t * w.queries, t * w.qkv, h, h, g * w.hidden};
}

struct CpuTrainingPass::State {
  explicit State(const CpuModel& m) : model(m), width(m.layout().config()) {}

  const CpuModel& model;
  Widths width;
  RotaryTable rotary;
  AlignedBuffer activations, gradients_memory;

  PackedBatch batch;
  float inverse_temperature = 1;
  int tokens = 0, targets = 0, longest = 0;
  std::vector<std::int32_t> positions;      // [tokens]
  std::vector<std::int32_t> target_tokens;  // [targets]
  std::vector<std::int32_t> target_starts;  // [sequences + 1], first target of each sequence
  std::vector<LayerActivations> layers;
  float* final_x;              // [tokens, hidden]
  float* head_x;               // [targets, hidden], the rows that predict targets
  float* head_reciprocal_rms;  // [targets]
  float* head_normed;          // [targets, hidden]
  // [targets, vocab] logits, which backward replaces by their gradient. With a value head: [targets], gradients of
  // values.
  float* logits;
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

}  // namespace starpo
