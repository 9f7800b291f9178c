#pragma once

#include <cstddef>
#include <cstdint>

namespace starpo {

// Columns per panel of a packed matrix [panels][depth][kPanel], on every instruction set.
inline constexpr int kPanel = 32;

// Functions in this file are static: kernels_<isa>.cpp must not emit a copy that the linker could use for all
// instruction sets.
static constexpr std::size_t panels(int columns) { return (static_cast<std::size_t>(columns) + kPanel - 1) / kPanel; }
static constexpr std::size_t packed_size(int depth, int columns) {
  return panels(columns) * static_cast<std::size_t>(depth) * kPanel;
}

// Attention of some query rows of a head. Keys are transposed in panels [ceil(keys / 32)][head_dim][32], so that scores
// vectorize over keys. Values are row-major. Query row i attends to the keys before `limit + i * limit_step`.
struct AttentionTile {
  int rows;              // number of queries
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
  float* scores;      // scratch of attention_scratch(last limit) floats
  float* maximum;     // [rows] largest score, for the backward pass; may be null
  float* reciprocal;  // [rows] reciprocal of the sum of weights, for the backward pass; may be null
  // Only for attention_weights and attention_output: the stride of rows of scores, and the number of keys in a prefix
  // that several sequences share. The caller computes their scores before attention_weights, and their part of the sum
  // in `output` before attention_output.
  std::ptrdiff_t score_stride = 0;
  int shared = 0;
  // Replace transposed_keys and values in bfloat16, only for decode (see attention_reads_bf16).
  const std::uint16_t* bf16_transposed_keys = nullptr;
  const std::uint16_t* bf16_values = nullptr;
};

// The backward pass of attention for a query head of a whole sequence. Adds to the gradients of keys and values,
// because several query heads share them, and writes the gradients of queries.
struct AttentionBackward {
  int length, head_dim;
  float scale;
  std::ptrdiff_t stride;  // from one token to the next in queries, keys, values and their gradients
  const float *queries, *keys, *values;
  const float *transposed_keys, *transposed_values;  // panels
  std::ptrdiff_t output_stride;
  const float *output, *output_gradient;
  const float *maximum, *reciprocal;  // [length], from the forward pass
  float *query_gradient, *key_gradient, *value_gradient;
  float* scratch;  // attention_backward_scratch(length)
};

static constexpr bool attention_reads_bf16(int rows, int head_dim) { return rows <= 2 && head_dim % 64 == 0; }
inline constexpr int kAttentionRows = 12;   // rows per tile of scores
inline constexpr int kAttentionBlock = 96;  // queries per block of the backward pass
static constexpr std::size_t attention_scratch(int keys) { return kAttentionRows * panels(keys) * kPanel; }
// Returns the floats of a row of scores if `shared` keys precede the tile's own keys, which start at a new panel.
static constexpr std::size_t score_row(int shared, int own) { return (panels(shared) + panels(own)) * kPanel; }
static constexpr std::size_t attention_backward_scratch(int keys) {
  return 2 * kAttentionBlock * panels(keys) * kPanel + kAttentionBlock;
}

struct AdamWStep {
  float gradient_scale, beta1, beta2, learning_rate, epsilon, decay;  // decay = learning rate * weight decay
  float first_correction, second_correction;                          // 1 / (1 - beta^t)
};

// The kernels of an instruction set. They run on the calling thread. Every result is defined to the bit: an element of
// a product is one chain of fused multiply-adds in the order of the inner index, and a reduction sums 16 strided lanes,
// then halves them repeatedly.
struct Kernels {
  // c [rows, columns] = start + a [rows, depth] b, with b packed [panels][depth][32]. `start` contains the first value
  // of each chain: null for 0, a bias with start_stride 0, or c.
  void (*multiply)(int rows, int columns, int depth, const float* a, std::ptrdiff_t a_stride, const float* packed_b,
                   const float* start, std::ptrdiff_t start_stride, float* c, std::ptrdiff_t c_stride);
  // c [rows, columns] += a [depth, rows]^T b [depth, columns]. Chains start from c, in the order of depth.
  void (*accumulate_transposed)(int rows, int columns, int depth, const float* a, std::ptrdiff_t a_stride,
                                const float* b, std::ptrdiff_t b_stride, float* c, std::ptrdiff_t c_stride);

  // output = softmax(scale * queries keys^T) values.
  void (*attention)(const AttentionTile&);
  // The two halves of attention, for at most kAttentionRows rows: attention_weights computes scores and weights without
  // the factor `reciprocal`, attention_output the output.
  void (*attention_weights)(const AttentionTile&);
  void (*attention_output)(const AttentionTile&);
  void (*attention_backward)(const AttentionBackward&);

  // y = x / rms(x) * weight. reciprocal_rms [rows] may be null.
  void (*norm)(int rows, int columns, const float* x, const float* weight, float epsilon, float* y,
               float* reciprocal_rms);
  // x_gradient [rows, columns] = residual_gradient + gradient through the norm. Recomputes y in normed, unless it is
  // null.
  void (*norm_backward)(int rows, int columns, const float* x, const float* weight, const float* reciprocal_rms,
                        const float* y_gradient, const float* residual_gradient, float* x_gradient, float* normed);
  // weight_gradient [columns] += sum over rows of y_gradient * x / rms, with rows `stride` apart.
  void (*norm_weight_gradient)(int rows, int columns, std::ptrdiff_t stride, const float* x,
                               const float* reciprocal_rms, const float* y_gradient, float* weight_gradient);
  // sums [columns] += sum over rows.
  void (*column_sums)(int rows, int columns, const float* x, std::ptrdiff_t stride, float* sums);
  // y += x
  void (*add)(std::size_t count, const float* x, float* y);

  // Rotates `heads` heads of each row in place by the angles of its position. cosines, sines: [positions, head_dim /
  // 2]. direction: 1, or -1 to rotate gradients back.
  void (*rotate)(int rows, float* x, std::ptrdiff_t stride, int heads, int head_dim, const std::int32_t* positions,
                 const float* cosines, const float* sines, float direction);

  // hidden [rows, columns] = silu(gate) * up, with gate_up [rows, 2 * columns].
  void (*swiglu)(int rows, int columns, const float* gate_up, float* hidden);
  // Computes gate_up_gradient [rows, 2 * columns] from hidden_gradient, and recomputes hidden.
  void (*swiglu_backward)(int rows, int columns, const float* gate_up, const float* hidden_gradient,
                          float* gate_up_gradient, float* hidden);

  // Computes the log-probability of each target and the entropy of softmax(logits * inverse_temperature), in nats.
  // maxima and log_sums [rows] are the largest scaled logit and the logarithm of the sum relative to it, for
  // logit_gradient. They may be null.
  void (*logprob_entropy)(int rows, int vocab, const float* logits, float inverse_temperature,
                          const std::int32_t* targets, float* logprobs, float* entropies, float* maxima,
                          float* log_sums);
  // Replaces logits with d(loss)/d(logits).
  void (*logit_gradient)(int rows, int vocab, float* logits, float inverse_temperature, const std::int32_t* targets,
                         const float* entropies, const float* maxima, const float* log_sums,
                         const float* logprob_gradients, const float* entropy_gradients);

  float (*sum_of_squares)(std::size_t count, const float* x);
  void (*adamw)(std::size_t count, const AdamWStep&, const float* gradients, const std::uint8_t* decayed,
                float* weights, float* first_moment, float* second_moment);
};

// Returns the kernels of the selected instruction set.
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
