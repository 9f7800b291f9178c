// Included by kernel_table.h, after elementwise_kernels.h.

namespace starpo::STARPO_ISA {

inline float sum_of_squares(std::size_t count, const float* x) {
  Vec sum = zero();
  for (std::size_t i = 0; i < count; i += 16) {
    const Vec a = get(x + i, count - i < 16 ? static_cast<int>(count - i) : 16);
    sum = fma(a, a, sum);
  }
  return reduce_add(sum);
}

inline Vec get_flags(const std::uint8_t* p, int n) {
  if (n == 16) return load_flags(p);
  std::uint8_t padded[16] = {};
  for (int i = 0; i < n; ++i) padded[i] = p[i];
  return load_flags(padded);
}

// With g = gradient * gradient_scale:
//   m = beta1 m + (1 - beta1) g
//   v = beta2 v + (1 - beta2) g^2
//   w = w - learning_rate * weight_decay * w (if decayed)
//   w = w - learning_rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
inline void adamw(std::size_t count, const AdamWStep& s, const float* gradients, const std::uint8_t* decayed,
                  float* weights, float* first_moment, float* second_moment) {
  const Vec scale = broadcast(s.gradient_scale), beta1 = broadcast(s.beta1), beta2 = broadcast(s.beta2),
            decay = broadcast(-s.decay);
  const Vec one_minus_beta1 = broadcast(1.0f - s.beta1), one_minus_beta2 = broadcast(1.0f - s.beta2),
            epsilon = broadcast(s.epsilon), rate = broadcast(-s.learning_rate);
  const Vec correct1 = broadcast(s.first_correction), correct2 = broadcast(s.second_correction);
  for (std::size_t i = 0; i < count; i += 16) {
    const int n = count - i < 16 ? static_cast<int>(count - i) : 16;
    const Vec g = mul(get(gradients + i, n), scale);
    const Vec m = fma(beta1, get(first_moment + i, n), mul(one_minus_beta1, g));
    const Vec v = fma(beta2, get(second_moment + i, n), mul(one_minus_beta2, mul(g, g)));
    Vec w = get(weights + i, n);
    w = fma(mul(decay, get_flags(decayed + i, n)), w, w);
    w = fma(rate, div(mul(m, correct1), add(square_root(mul(v, correct2)), epsilon)), w);
    put(first_moment + i, m, n);
    put(second_moment + i, v, n);
    put(weights + i, w, n);
  }
}

}  // namespace starpo::STARPO_ISA
