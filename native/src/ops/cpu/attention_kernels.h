// Included once by each kernels_<isa>.cpp, after gemm_kernels.h, exp_kernel.h and elementwise_kernels.h.

namespace starpo::STARPO_ISA {

// Scores of few query rows: the chains of several panels run side by side, where one panel's alone would wait for its own results.
// Keys are floats or bfloat16 numbers. While they are read, their values, as many and wanted next, are fetched: decode waits for memory more than for
// arithmetic.
template <int Rows, int Panels, class Number>
inline void score_rows(int head_dim, const float* queries, std::ptrdiff_t query_stride, const Number* keys, const Number* values,
                       float* scores, std::ptrdiff_t ld) {
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

template <int Rows, class Number>
inline void few_rows(const AttentionTile& t, const Number* transposed_keys, const Number* values, int first_row, int keys, std::ptrdiff_t ld) {
  constexpr int kGroup = kTileRows >= 12 ? 4 : 2;
  const float* const queries = t.queries + first_row * t.query_stride;
  const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(t.head_dim) * kPanel;
  const int count = static_cast<int>(panels(keys));
  float* const scores = t.scores + first_row * ld;
  int p = 0;
  for (; p + kGroup <= count; p += kGroup)
    score_rows<Rows, kGroup>(t.head_dim, queries, t.query_stride, transposed_keys + p * panel, values + p * panel, scores + p * kPanel, ld);
  for (; p < count; ++p)
    score_rows<Rows, 1>(t.head_dim, queries, t.query_stride, transposed_keys + p * panel, values + p * panel, scores + p * kPanel, ld);
}

template <class Number>
inline void scores_of_few(const AttentionTile& t, const Number* transposed_keys, const Number* values, int keys, std::ptrdiff_t ld) {
  if (t.rows == kRowGroup)
    few_rows<kRowGroup>(t, transposed_keys, values, 0, keys, ld);
  else
    for (int r = 0; r < t.rows; ++r) few_rows<1>(t, transposed_keys, values, r, keys, ld);
}

// 64 columns of the sum of bfloat16 values, each a chain over the keys.
template <int Rows>
inline void sum_bf16_values(int keys, const float* weights, std::ptrdiff_t ld, const std::uint16_t* values, std::ptrdiff_t value_stride, float* output,
                            std::ptrdiff_t output_stride) {
  Vec sum[Rows][4];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) sum[r][v] = zero();
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

// scores[0, limit) become exp((score - maximum) * scale), the rest up to `padded` 0.
inline float exponentials(int limit, int padded, float scale, float* scores, float& maximum) {
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
  for (; j < padded; j += 16) store(scores + j, zero());
  return reduce_add(sum);
}

inline void attention(const AttentionTile& t) {
  for (int first = 0; first < t.rows; first += kAttentionRows) {
    AttentionTile part = t;
    part.rows = smaller(t.rows - first, kAttentionRows);
    part.queries += first * t.query_stride;
    part.output += first * t.output_stride;
    part.limit += first * t.limit_step;
    const int keys = part.limit + (part.rows - 1) * t.limit_step;
    const int padded = static_cast<int>(panels(keys)) * kPanel;
    const bool few = part.rows <= 2;
    const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(t.head_dim) * kPanel;
    if (!few)
      multiply_by(part.rows, padded, t.head_dim, part.queries, t.query_stride, t.transposed_keys, kPanel, panel, nullptr, 0, t.scores, padded);
    else if (t.bf16_transposed_keys != nullptr)
      scores_of_few(part, t.bf16_transposed_keys, t.bf16_values, keys, padded);
    else
      scores_of_few(part, t.transposed_keys, t.values, keys, padded);
    float reciprocal[kAttentionRows];
    for (int r = 0; r < part.rows; ++r) {
      float maximum;
      const float sum = exponentials(part.limit + r * t.limit_step, padded, t.scale, t.scores + r * padded, maximum);
      reciprocal[r] = 1.0f / sum;
      if (t.maximum != nullptr) {
        t.maximum[first + r] = maximum;
        t.reciprocal[first + r] = reciprocal[r];
      }
    }
    if (t.bf16_values != nullptr) {
      for (int d = 0; d < t.head_dim; d += 64) {
        float* const output = part.output + d;
        if (part.rows == kRowGroup)
          sum_bf16_values<kRowGroup>(keys, t.scores, padded, t.bf16_values + d, t.value_stride, output, t.output_stride);
        else
          for (int r = 0; r < part.rows; ++r)
            sum_bf16_values<1>(keys, t.scores + r * padded, padded, t.bf16_values + d, t.value_stride, output + r * t.output_stride, t.output_stride);
      }
    } else if (few && t.head_dim % 64 == 0) {
      for (int d = 0; d < t.head_dim; d += 64) {
        TileArguments sum{keys, t.scores, padded, t.values + d, t.value_stride, nullptr, 0, part.output + d, t.output_stride, 64};
        if (part.rows == kRowGroup) {
          tile<kRowGroup, 4, false, false>(sum);
        } else {
          for (int r = 0; r < part.rows; ++r, sum.a += padded, sum.c += t.output_stride) tile<1, 4, false, false>(sum);
        }
      }
    } else {
      multiply_by(part.rows, t.head_dim, keys, t.scores, padded, t.values, t.value_stride, kPanel, nullptr, 0, part.output, t.output_stride);
    }
    for (int r = 0; r < part.rows; ++r) scale_row(t.head_dim, reciprocal[r], part.output + r * t.output_stride);
  }
}

// One row: probabilities from scores, and d(loss)/d(score) from d(loss)/d(probability), both 0 from `limit` on.
inline void softmax_backward(int limit, int padded, float scale, float maximum, float reciprocal, float dot, float* scores, float* gradient) {
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

// Scores are computed again block by block rather than kept: they'd be the pass's largest activation.
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
      multiply_by(rows, columns, dim, queries + row * t.stride, t.stride, t.transposed_keys, kPanel, panel, nullptr, 0, p, padded);
      multiply_by(rows, columns, dim, output_gradient + row * t.output_stride, t.output_stride, t.transposed_values, kPanel, panel, nullptr, 0, g,
                  padded);
      for (int r = 0; r < rows; ++r) {
        const int i = first + row + r;
        const float dot = dot_product(dim, t.output + i * t.output_stride, t.output_gradient + i * t.output_stride);
        softmax_backward(i + 1, padded, t.scale, t.maximum[i], t.reciprocal[i], dot, p + r * static_cast<std::ptrdiff_t>(padded),
                         g + r * static_cast<std::ptrdiff_t>(padded));
      }
      multiply_by(rows, dim, first + row + rows, g, padded, t.keys, t.stride, kPanel, nullptr, 0, t.query_gradient + (first + row) * t.stride,
                  t.stride);
    }
    // Keys before the block are seen by all its queries; of the block's own, each only by the queries from it on.
    if (first > 0) {
      accumulate_transposed(first, dim, block, gradient, padded, queries, t.stride, t.key_gradient, t.stride);
      accumulate_transposed(first, dim, block, probability, padded, output_gradient, t.output_stride, t.value_gradient, t.stride);
    }
    for (int row = 0; row < block; row += kAttentionRows) {
      const int rows = smaller(block - row, kAttentionRows);
      const std::ptrdiff_t corner = row * static_cast<std::ptrdiff_t>(padded) + first + row;
      accumulate_transposed(rows, dim, block - row, gradient + corner, padded, queries + row * t.stride, t.stride,
                            t.key_gradient + (first + row) * t.stride, t.stride);
      accumulate_transposed(rows, dim, block - row, probability + corner, padded, output_gradient + row * t.output_stride, t.output_stride,
                            t.value_gradient + (first + row) * t.stride, t.stride);
    }
  }
}

}  // namespace starpo::STARPO_ISA
