#pragma once

#include <cstddef>
#include <cstdint>

namespace starpo {

// Columns of one panel of a packed matrix, on every instruction set: [panels][depth][kPanel].
inline constexpr int kPanel = 32;

// Functions here are static: kernels_<isa>.cpp must not emit a copy that the linker could keep for everyone.
static constexpr std::size_t panels(int columns) { return (static_cast<std::size_t>(columns) + kPanel - 1) / kPanel; }
static constexpr std::size_t packed_size(int depth, int columns) {
  return panels(columns) * static_cast<std::size_t>(depth) * kPanel;
}

// Keys of one head as attention reads them: transposed, in panels [ceil(keys / 32)][head_dim][32], so that scores
// vectorise over keys. Values stay row-major. Query row i of a tile sees the keys before `limit + i * limit_step`.
struct AttentionTile {
  int rows;              // of queries, any number
  const float* queries;  // [rows, head_dim], rows query_stride apart
  std::ptrdiff_t query_stride;
  int limit, limit_step;
  const float* transposed_keys;
  const float* values;  // [keys, head_dim], rows value_stride apart
  std::ptrdiff_t value_stride;
  int head_dim;
  float scale;
  float* output;  // [rows, head_dim], rows output_stride apart
  std::ptrdiff_t output_stride;
  float* scores;   // scratch, attention_scratch(last limit)
  float* maximum;  // [rows] the largest score and the reciprocal sum, kept for backward; null without a backward pass
  float* reciprocal;
  // attention_weights and attention_output only: the stride between rows of scores, and the first `shared` keys (of a
  // prefix that several sequences have) are not this tile's: their scores are there before attention_weights, their
  // part of the sum is in `output` before attention_output.
  std::ptrdiff_t score_stride = 0;
  int shared = 0;
  // In place of transposed_keys and values: the same in bfloat16, for decode alone (attention_reads_bf16).
  const std::uint16_t* bf16_transposed_keys = nullptr;
  const std::uint16_t* bf16_values = nullptr;
};

// One query head of one whole sequence. Gradients of keys and values are added (several query heads share them), those
// of queries written.
struct AttentionBackward {
  int length, head_dim;
  float scale;
  std::ptrdiff_t stride;  // between the tokens' rows of queries, keys, values and of their gradients
  const float *queries, *keys, *values;
  const float *transposed_keys, *transposed_values;  // panels
  std::ptrdiff_t output_stride;
  const float *output, *output_gradient;
  const float *maximum, *reciprocal;  // [length], from the forward pass
  float *query_gradient, *key_gradient, *value_gradient;
  float* scratch;  // attention_backward_scratch(length)
};

static constexpr bool attention_reads_bf16(int rows, int head_dim) { return rows <= 2 && head_dim % 64 == 0; }
inline constexpr int kAttentionRows = 12;   // rows of one tile of scores
inline constexpr int kAttentionBlock = 96;  // queries of one block of the backward pass
static constexpr std::size_t attention_scratch(int keys) { return kAttentionRows * panels(keys) * kPanel; }
// Floats of one row of scores if `shared` keys precede the tile's own, which start at a new panel.
static constexpr std::size_t score_row(int shared, int own) { return (panels(shared) + panels(own)) * kPanel; }
static constexpr std::size_t attention_backward_scratch(int keys) {
  return 2 * kAttentionBlock * panels(keys) * kPanel + kAttentionBlock;
}

struct AdamWStep {
  float gradient_scale, beta1, beta2, learning_rate, epsilon, decay;  // decay = learning rate * weight decay
  float first_correction, second_correction;                          // 1 / (1 - beta^t)
};

// The kernels of one instruction set, on one thread. Every result is defined to the bit: a product's element is one
// chain of fused multiply-adds in the order of its inner index, a reduction adds 16 strided lanes and then halves them.
struct Kernels {
  // c[rows, columns] = chain from start over a[rows, depth] * b, b packed [panels][depth][32]. `start` holds each
  // element's first value: null for 0, a bias with start_stride 0, or c itself.
  void (*multiply)(int rows, int columns, int depth, const float* a, std::ptrdiff_t a_stride, const float* packed_b,
                   const float* start, std::ptrdiff_t start_stride, float* c, std::ptrdiff_t c_stride);
  // c[rows, columns] += a[depth, rows]^T b[depth, columns]: the chain starts from c, in the order of depth.
  void (*accumulate_transposed)(int rows, int columns, int depth, const float* a, std::ptrdiff_t a_stride,
                                const float* b, std::ptrdiff_t b_stride, float* c, std::ptrdiff_t c_stride);

  void (*attention)(const AttentionTile&);
  // Its halves, for at most kAttentionRows rows: scores become weights that lack the factor `reciprocal`; weights
  // become output.
  void (*attention_weights)(const AttentionTile&);
  void (*attention_output)(const AttentionTile&);
  void (*attention_backward)(const AttentionBackward&);

  // y = x / rms(x) * weight; reciprocal_rms [rows], may be null.
  void (*norm)(int rows, int columns, const float* x, const float* weight, float epsilon, float* y,
               float* reciprocal_rms);
  // x_gradient[rows, columns] = residual_gradient + gradient through the norm; normed (recomputed y) is written where
  // it isn't null.
  void (*norm_backward)(int rows, int columns, const float* x, const float* weight, const float* reciprocal_rms,
                        const float* y_gradient, const float* residual_gradient, float* x_gradient, float* normed);
  // weight_gradient[columns] += sum over rows of y_gradient * x / rms, rows `stride` apart.
  void (*norm_weight_gradient)(int rows, int columns, std::ptrdiff_t stride, const float* x,
                               const float* reciprocal_rms, const float* y_gradient, float* weight_gradient);
  // sums[columns] += sum over rows.
  void (*column_sums)(int rows, int columns, const float* x, std::ptrdiff_t stride, float* sums);
  // y += x
  void (*add)(std::size_t count, const float* x, float* y);

  // Rotates `heads` heads of each row in place by its position's angles: cosines, sines [positions, head_dim / 2].
  // direction -1 undoes it (the gradient).
  void (*rotate)(int rows, float* x, std::ptrdiff_t stride, int heads, int head_dim, const std::int32_t* positions,
                 const float* cosines, const float* sines, float direction);

  // gate_up [rows, 2 * columns] -> hidden [rows, columns] = silu(gate) * up
  void (*swiglu)(int rows, int columns, const float* gate_up, float* hidden);
  // hidden_gradient -> gate_up_gradient [rows, 2 * columns]; hidden is recomputed.
  void (*swiglu_backward)(int rows, int columns, const float* gate_up, const float* hidden_gradient,
                          float* gate_up_gradient, float* hidden);

  // Of softmax(logits * inverse_temperature), natural logarithms. maxima and log_sums [rows] (the largest scaled logit,
  // the logarithm of the sum relative to it) are kept for logit_gradient and may be null.
  void (*logprob_entropy)(int rows, int vocab, const float* logits, float inverse_temperature,
                          const std::int32_t* targets, float* logprobs, float* entropies, float* maxima,
                          float* log_sums);
  // Replaces logits by d(loss)/d(logits).
  void (*logit_gradient)(int rows, int vocab, float* logits, float inverse_temperature, const std::int32_t* targets,
                         const float* entropies, const float* maxima, const float* log_sums,
                         const float* logprob_gradients, const float* entropy_gradients);

  float (*sum_of_squares)(std::size_t count, const float* x);
  void (*adamw)(std::size_t count, const AdamWStep&, const float* gradients, const std::uint8_t* decayed,
                float* weights, float* first_moment, float* second_moment);
};

// The selected instruction set's.
const Kernels& kernels();

namespace scalar {
const Kernels& kernels();
}
namespace avx2 {
const Kernels& kernels();
}
namespace avx512 {
const Kernels& kernels();
}

}  // namespace starpo
