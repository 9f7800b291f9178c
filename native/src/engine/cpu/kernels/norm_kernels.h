// Included by kernel_table.h, after elementwise_kernels.h. RMSNorm (Zhang & Sennrich, arXiv 1910.07467).

namespace starpo::STARPO_ISA {

inline void norm(int rows, int columns, const float* x, const float* weight, float epsilon, float* y,
                 float* reciprocal_rms) {
  for (int r = 0; r < rows; ++r, x += columns, y += columns) {
    Vec squares = zero();
    for (int i = 0; i < columns; i += 16) {
      const Vec a = get(x + i, lanes(columns - i));
      squares = fma(a, a, squares);
    }
    const float reciprocal = 1.0f / __builtin_sqrtf(reduce_add(squares) / static_cast<float>(columns) + epsilon);
    if (reciprocal_rms != nullptr) reciprocal_rms[r] = reciprocal;
    const Vec factor = broadcast(reciprocal);
    for (int i = 0; i < columns; i += 16) {
      const int n = lanes(columns - i);
      put(y + i, mul(mul(get(x + i, n), factor), get(weight + i, n)), n);
    }
  }
}

// With u = x / rms: x_gradient = residual_gradient + (y_gradient w - u mean(y_gradient w u)) / rms.
inline void norm_backward(int rows, int columns, const float* x, const float* weight, const float* reciprocal_rms,
                          const float* y_gradient, const float* residual_gradient, float* x_gradient, float* normed) {
  for (int r = 0; r < rows; ++r) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(r) * columns;
    const Vec factor = broadcast(reciprocal_rms[r]);
    Vec sum = zero();
    for (int i = 0; i < columns; i += 16) {
      const int n = lanes(columns - i);
      const Vec unit = mul(get(x + row + i, n), factor), w = get(weight + i, n);
      sum = fma(mul(get(y_gradient + row + i, n), w), unit, sum);
      if (normed != nullptr) put(normed + row + i, mul(unit, w), n);
    }
    const Vec mean = broadcast(reduce_add(sum) / static_cast<float>(columns));
    for (int i = 0; i < columns; i += 16) {
      const int n = lanes(columns - i);
      const Vec unit = mul(get(x + row + i, n), factor);
      const Vec d = mul(get(y_gradient + row + i, n), get(weight + i, n));
      put(x_gradient + row + i, fma(sub(d, mul(unit, mean)), factor, get(residual_gradient + row + i, n)), n);
    }
  }
}

template <int Vecs>
inline void norm_weight_gradient_of(int rows, int n, std::ptrdiff_t stride, const float* x, const float* reciprocal_rms,
                                    const float* y_gradient, float* weight_gradient) {
  Vec sum[Vecs];
  for (int v = 0; v < Vecs; ++v) sum[v] = get(weight_gradient + 16 * v, n);
  for (int r = 0; r < rows; ++r) {
    const Vec factor = broadcast(reciprocal_rms[r]);
    for (int v = 0; v < Vecs; ++v)
      sum[v] = fma(get(y_gradient + r * stride + 16 * v, n), mul(get(x + r * stride + 16 * v, n), factor), sum[v]);
  }
  for (int v = 0; v < Vecs; ++v) put(weight_gradient + 16 * v, sum[v], n);
}

inline void norm_weight_gradient(int rows, int columns, std::ptrdiff_t stride, const float* x,
                                 const float* reciprocal_rms, const float* y_gradient, float* weight_gradient) {
  int c = 0;
  for (; c + 64 <= columns; c += 64)
    norm_weight_gradient_of<4>(rows, 16, stride, x + c, reciprocal_rms, y_gradient + c, weight_gradient + c);
  for (; c < columns; c += 16)
    norm_weight_gradient_of<1>(rows, lanes(columns - c), stride, x + c, reciprocal_rms, y_gradient + c,
                               weight_gradient + c);
}

}  // namespace starpo::STARPO_ISA
