// Included by kernel_table.h, after elementwise_kernels.h.

namespace starpo::STARPO_ISA {

// With z = logits / temperature, its maximum m and S = sum of exp(z - m): log p(y) = (z_y - m) - log S and H = log S -
// (sum of (z - m) exp(z - m)) / S.
inline void logprob_entropy(int rows, int vocab, const float* logits, float inverse_temperature,
                            const std::int32_t* targets, float* logprobs, float* entropies, float* maxima,
                            float* log_sums) {
  const Vec t = broadcast(inverse_temperature), lowest = broadcast(-__builtin_inff());
  for (int r = 0; r < rows; ++r, logits += vocab) {
    Vec high = lowest;
    for (int i = 0; i < vocab; i += 16) {
      const int n = lanes(vocab - i);
      high = max(high, fill_from(mul(get(logits + i, n), t), n, lowest));
    }
    const float maximum = reduce_max(high);
    const Vec m = broadcast(maximum);
    Vec sum = zero(), weighted = zero();
    for (int i = 0; i < vocab; i += 16) {
      const int n = lanes(vocab - i);
      const Vec z = sub(mul(get(logits + i, n), t), m);
      const Vec e = fill_from(exponential(z), n, zero());
      sum = add(sum, e);
      weighted = fma(e, fill_from(z, n, zero()), weighted);
    }
    const float total = reduce_add(sum);
    const float log_sum = static_cast<float>(reproducible_log(static_cast<double>(total)));
    logprobs[r] = (logits[targets[r]] * inverse_temperature - maximum) - log_sum;
    entropies[r] = log_sum - reduce_add(weighted) / total;
    if (maxima != nullptr) {
      maxima[r] = maximum;
      log_sums[r] = log_sum;
    }
  }
}

// With z = logits / temperature: d log p(y) / dz_j = [j = y] - p_j and dH / dz_j = -p_j (log p_j + H).
inline void logit_gradient(int rows, int vocab, float* logits, float inverse_temperature, const std::int32_t* targets,
                           const float* entropies, const float* maxima, const float* log_sums,
                           const float* logprob_gradients, const float* entropy_gradients) {
  const Vec t = broadcast(inverse_temperature);
  for (int r = 0; r < rows; ++r, logits += vocab) {
    const Vec m = broadcast(maxima[r]), log_sum = broadcast(log_sums[r]), entropy = broadcast(entropies[r]);
    const Vec from_logprob = broadcast(logprob_gradients[r]), from_entropy = broadcast(entropy_gradients[r]);
    for (int i = 0; i < vocab; i += 16) {
      const int n = lanes(vocab - i);
      const Vec logprob = sub(sub(mul(get(logits + i, n), t), m), log_sum);
      const Vec slope = fma(from_entropy, add(logprob, entropy), from_logprob);
      put(logits + i, sub(zero(), mul(mul(exponential(logprob), slope), t)), n);
    }
    logits[targets[r]] += logprob_gradients[r] * inverse_temperature;
  }
}

}  // namespace starpo::STARPO_ISA
