// Included by kernel_table.h, after gemm_kernels.h, exp_kernel.h and elementwise_kernels.h.

namespace starpo::STARPO_ISA {

// scores = queries keys^T for few query rows. The chains of several panels are interleaved, because a single panel's
// would wait for its own results. Keys are floats or bfloat16 numbers. Also prefetches the values, because decoding is
// limited by memory bandwidth.
template <int Rows, int Panels, class Number>
inline void score_rows(int head_dim, const float* queries, std::ptrdiff_t query_stride, const Number* keys,
                       const Number* values, float* scores, std::ptrdiff_t ld) {
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(head_dim) * kPanel;
  Vec sum[Rows][Panels][2];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int p = 0; p < Panels; ++p) sum[r][p][0] = sum[r][p][1] = zero();
  for (int d = 0; d < head_dim; ++d)
#pragma GCC unroll 4
    for (int p = 0; p < Panels; ++p) {
      __builtin_prefetch(values + p * panel + d * kPanel, 0, 2);
      if (sizeof(Number) == 4) __builtin_prefetch(values + p * panel + d * kPanel + 16, 0, 2);
      const Vec low = load(keys + p * panel + d * kPanel), high = load(keys + p * panel + d * kPanel + 16);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) {
        const Vec q = broadcast(queries[r * query_stride + d]);
        sum[r][p][0] = fma(q, low, sum[r][p][0]);
        sum[r][p][1] = fma(q, high, sum[r][p][1]);
      }
    }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int p = 0; p < Panels; ++p) {
      store(scores + r * ld + p * kPanel, sum[r][p][0]);
      store(scores + r * ld + p * kPanel + 16, sum[r][p][1]);
    }
}

// Computes all scores of Rows rows from first_row.
template <int Rows, class Number>
inline void few_rows(const AttentionTile& t, const Number* transposed_keys, const Number* values, int first_row,
                     int keys, std::ptrdiff_t ld) {
  constexpr int kGroup = kTileRows >= 12 ? 4 : 2;
  const float* const queries = t.queries + first_row * t.query_stride;
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(t.head_dim) * kPanel;
  const int count = static_cast<int>(panels(keys));
  float* const scores = t.scores + first_row * ld;
  int p = 0;
  for (; p + kGroup <= count; p += kGroup)
    score_rows<Rows, kGroup>(t.head_dim, queries, t.query_stride, transposed_keys + p * panel, values + p * panel,
                             scores + p * kPanel, ld);
  for (; p < count; ++p)
    score_rows<Rows, 1>(t.head_dim, queries, t.query_stride, transposed_keys + p * panel, values + p * panel,
                        scores + p * kPanel, ld);
}

// Computes the scores of a tile with few rows.
template <class Number>
inline void scores_of_few(const AttentionTile& t, const Number* transposed_keys, const Number* values, int keys,
                          std::ptrdiff_t ld) {
  if (t.rows == kRowGroup)
    few_rows<kRowGroup>(t, transposed_keys, values, 0, keys, ld);
  else
    for (int r = 0; r < t.rows; ++r) few_rows<1>(t, transposed_keys, values, r, keys, ld);
}

// output = weights values for 64 columns of bfloat16 values. Each element is a chain over the keys that starts from
// `output` (accumulate) or from 0.
template <int Rows>
inline void sum_bf16_values(int keys, const float* weights, std::ptrdiff_t ld, const std::uint16_t* values,
                            std::ptrdiff_t value_stride, bool accumulate, float* output, std::ptrdiff_t output_stride) {
  Vec sum[Rows][4];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) sum[r][v] = accumulate ? load(output + r * output_stride + 16 * v) : zero();
  for (int j = 0; j < keys; ++j, values += value_stride)
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      const Vec value = load(values + 16 * v);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) sum[r][v] = fma(broadcast(weights[r * ld + j]), value, sum[r][v]);
    }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) store(output + r * output_stride + 16 * v, sum[r][v]);
}

inline void scale_row(int count, float factor, float* row) {
  for (int i = 0; i < count; i += 16) {
    const int n = lanes(count - i);
    put(row + i, mul(get(row + i, n), broadcast(factor)), n);
  }
}

// Replaces scores [0, limit) with exp((score - maximum) * scale) and those up to `keys`, rounded up to 16, with 0.
// Returns their sum.
inline float exponentials(int limit, int keys, float scale, float* scores, float& maximum) {
  const Vec lowest = broadcast(-__builtin_inff());
  Vec high = lowest;
  for (int j = 0; j < limit; j += 16) high = max(high, fill_from(load(scores + j), lanes(limit - j), lowest));
  maximum = reduce_max(high);
  const Vec m = broadcast(maximum), s = broadcast(scale);
  Vec sum = zero();
  int j = 0;
  for (; j < limit; j += 16) {
    const Vec e = fill_from(exponential(mul(sub(load(scores + j), m), s)), lanes(limit - j), zero());
    sum = add(sum, e);
    store(scores + j, e);
  }
  for (; j < keys; j += 16) store(scores + j, zero());
  return reduce_add(sum);
}

inline bool has_few_rows(const AttentionTile& t) { return t.rows <= 2; }

inline int keys_of(const AttentionTile& t) { return t.limit + (t.rows - 1) * t.limit_step; }

inline void attention_weights(const AttentionTile& t) {
  const int own = keys_of(t) - t.shared;
  const int padded = static_cast<int>(panels(own)) * kPanel;
  const std::ptrdiff_t ld = t.score_stride;
  AttentionTile part = t;
  part.scores += t.shared;
  if (!has_few_rows(t))
    multiply_by(t.rows, padded, t.head_dim, t.queries, t.query_stride, t.transposed_keys, kPanel,
                static_cast<std::ptrdiff_t>(t.head_dim) * kPanel, nullptr, 0, part.scores, ld);
  else if (t.bf16_transposed_keys != nullptr)
    scores_of_few(part, t.bf16_transposed_keys, t.bf16_values, own, ld);
  else
    scores_of_few(part, t.transposed_keys, t.values, own, ld);
  for (int r = 0; r < t.rows; ++r) {
    float maximum;
    t.reciprocal[r] =
        1.0f / exponentials(t.limit + r * t.limit_step, t.shared + own, t.scale, t.scores + r * ld, maximum);
    if (t.maximum != nullptr) t.maximum[r] = maximum;
  }
}

inline void attention_output(const AttentionTile& t) {
  const int own = keys_of(t) - t.shared;
  const std::ptrdiff_t ld = t.score_stride;
  const float* const weights = t.scores + t.shared;
  const bool accumulate = t.shared > 0;
  const float* const start = accumulate ? t.output : nullptr;
  if (t.bf16_values != nullptr) {
    for (int d = 0; d < t.head_dim; d += 64) {
      float* const output = t.output + d;
      if (t.rows == kRowGroup)
        sum_bf16_values<kRowGroup>(own, weights, ld, t.bf16_values + d, t.value_stride, accumulate, output,
                                   t.output_stride);
      else
        for (int r = 0; r < t.rows; ++r)
          sum_bf16_values<1>(own, weights + r * ld, ld, t.bf16_values + d, t.value_stride, accumulate,
                             output + r * t.output_stride, t.output_stride);
    }
  } else if (has_few_rows(t) && t.head_dim % 64 == 0) {
    for (int d = 0; d < t.head_dim; d += 64) {
      TileArguments sum{own,
                        weights,
                        ld,
                        t.values + d,
                        t.value_stride,
                        accumulate ? start + d : nullptr,
                        t.output_stride,
                        t.output + d,
                        t.output_stride,
                        64};
      if (t.rows == kRowGroup) {
        tile<kRowGroup, 4, false, false>(sum);
      } else {
        for (int r = 0; r < t.rows; ++r, sum.a += ld, sum.c += t.output_stride) {
          sum.start = accumulate ? sum.c : nullptr;
          tile<1, 4, false, false>(sum);
        }
      }
    }
  } else {
    multiply_by(t.rows, t.head_dim, own, weights, ld, t.values, t.value_stride, kPanel, start, t.output_stride,
                t.output, t.output_stride);
  }
  for (int r = 0; r < t.rows; ++r) scale_row(t.head_dim, t.reciprocal[r], t.output + r * t.output_stride);
}

inline void attention(const AttentionTile& t) {
  float reciprocal[kAttentionRows];
  for (int first = 0; first < t.rows; first += kAttentionRows) {
    AttentionTile part = t;
    part.rows = smaller(t.rows - first, kAttentionRows);
    part.queries += first * t.query_stride;
    part.output += first * t.output_stride;
    part.limit += first * t.limit_step;
    part.score_stride = static_cast<std::ptrdiff_t>(panels(keys_of(part))) * kPanel;
    part.reciprocal = t.reciprocal == nullptr ? reciprocal : t.reciprocal + first;
    if (t.maximum != nullptr) part.maximum += first;
    attention_weights(part);
    attention_output(part);
  }
}

// Replaces a row of scores with probabilities p, and its gradient g = d(loss)/d(p) with d(loss)/d(score) = p (g - dot)
// scale. Both are 0 from `limit` on.
inline void softmax_backward(int limit, int padded, float scale, float maximum, float reciprocal, float dot,
                             float* scores, float* gradient) {
  const Vec m = broadcast(maximum), s = broadcast(scale), inverse = broadcast(reciprocal), d = broadcast(dot);
  int j = 0;
  for (; j < limit; j += 16) {
    const Vec e = exponential(mul(sub(load(scores + j), m), s));
    const Vec p = fill_from(mul(e, inverse), lanes(limit - j), zero());
    const Vec g = mul(mul(p, sub(load(gradient + j), d)), s);
    store(scores + j, p);
    store(gradient + j, fill_from(g, lanes(limit - j), zero()));
  }
  for (; j < padded; j += 16) {
    store(scores + j, zero());
    store(gradient + j, zero());
  }
}

inline float dot_product(int count, const float* a, const float* b) {
  Vec sum = zero();
  for (int i = 0; i < count; i += 16) sum = fma(get(a + i, lanes(count - i)), get(b + i, lanes(count - i)), sum);
  return reduce_add(sum);
}

// Recomputes scores block by block, because storing them would need the most memory of all activations.
// cuda/kernels/attention_gradient.cuh has the formulas.
inline void attention_backward(const AttentionBackward& t) {
  const int dim = t.head_dim;
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(dim) * kPanel;
  for (int first = 0; first < t.length; first += kAttentionBlock) {
    const int block = smaller(t.length - first, kAttentionBlock);
    const int padded = static_cast<int>(panels(first + block)) * kPanel;
    float* const probability = t.scratch;
    float* const gradient = probability + kAttentionBlock * static_cast<std::ptrdiff_t>(padded);
    const float* const queries = t.queries + first * t.stride;
    const float* const output_gradient = t.output_gradient + first * t.output_stride;
    for (int row = 0; row < block; row += kAttentionRows) {
      const int rows = smaller(block - row, kAttentionRows);
      const int columns = static_cast<int>(panels(first + row + rows)) * kPanel;
      float* const p = probability + row * static_cast<std::ptrdiff_t>(padded);
      float* const g = gradient + row * static_cast<std::ptrdiff_t>(padded);
      multiply_by(rows, columns, dim, queries + row * t.stride, t.stride, t.transposed_keys, kPanel, panel, nullptr, 0,
                  p, padded);
      multiply_by(rows, columns, dim, output_gradient + row * t.output_stride, t.output_stride, t.transposed_values,
                  kPanel, panel, nullptr, 0, g, padded);
      for (int r = 0; r < rows; ++r) {
        const int i = first + row + r;
        const float dot = dot_product(dim, t.output + i * t.output_stride, t.output_gradient + i * t.output_stride);
        softmax_backward(i + 1, padded, t.scale, t.maximum[i], t.reciprocal[i], dot,
                         p + r * static_cast<std::ptrdiff_t>(padded), g + r * static_cast<std::ptrdiff_t>(padded));
      }
      multiply_by(rows, dim, first + row + rows, g, padded, t.keys, t.stride, kPanel, nullptr, 0,
                  t.query_gradient + (first + row) * t.stride, t.stride);
    }
    // All queries of the block attend to the keys before it. Of the block's own keys, a query attends to those up to
    // itself.
    if (first > 0) {
      accumulate_transposed(first, dim, block, gradient, padded, queries, t.stride, t.key_gradient, t.stride);
      accumulate_transposed(first, dim, block, probability, padded, output_gradient, t.output_stride, t.value_gradient,
                            t.stride);
    }
    for (int row = 0; row < block; row += kAttentionRows) {
      const int rows = smaller(block - row, kAttentionRows);
      const std::ptrdiff_t corner = row * static_cast<std::ptrdiff_t>(padded) + first + row;
      accumulate_transposed(rows, dim, block - row, gradient + corner, padded, queries + row * t.stride, t.stride,
                            t.key_gradient + (first + row) * t.stride, t.stride);
      accumulate_transposed(rows, dim, block - row, probability + corner, padded,
                            output_gradient + row * t.output_stride, t.output_stride,
                            t.value_gradient + (first + row) * t.stride, t.stride);
    }
  }
}

}  // namespace starpo::STARPO_ISA
