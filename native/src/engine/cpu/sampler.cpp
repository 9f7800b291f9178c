#include "engine/cpu/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace starpo {
namespace {

// Returns e^x in fp32 for x <= 0, with plain IEEE operations that the compiler can vectorize without changing a bit.
inline float exp_non_positive(float x) {
  x = std::max(x, -87.0f);
  const float n = static_cast<float>(static_cast<int>(x * 1.44269504f - 0.5f));
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.98756915e-4f;
  p = p * r + 1.39819995e-3f;
  p = p * r + 8.33345205e-3f;
  p = p * r + 4.16657962e-2f;
  p = p * r + 1.66666655e-1f;
  p = p * r + 5.00000012e-1f;
  p = p * r * r + r + 1.0f;
  return p * std::bit_cast<float>((static_cast<int>(n) + 127) << 23);
}

// Returns the k-th largest value.
float kth_largest(std::vector<float> values, int k) {
  std::nth_element(values.begin(), values.begin() + (k - 1), values.end(), std::greater<>());
  return values[k - 1];
}

// Returns the smallest value of the nucleus: the fewest largest values whose sum is at least `share` of the total.
float nucleus_threshold(std::vector<float> values, float share, float total) {
  std::sort(values.begin(), values.end(), std::greater<>());
  float sum = 0;
  for (float value : values) {
    sum += value;
    if (sum >= share * total) return value;
  }
  return 0;
}

float sum_in_order(const std::vector<float>& values) {
  float sum = 0;
  for (float value : values) sum += value;
  return sum;
}

}  // namespace

std::int32_t sample_token(std::span<const float> logits, const SamplingSettings& settings, float uniform,
                          std::vector<float>& scratch) {
  float largest = -INFINITY;
  for (float logit : logits) {
    if (std::isnan(logit)) return -1;
    largest = std::max(largest, logit);
  }
  if (!std::isfinite(largest)) return -1;

  scratch.resize(logits.size());
  const float scale = 1 / settings.temperature;
  for (std::size_t i = 0; i < logits.size(); ++i) scratch[i] = exp_non_positive((logits[i] - largest) * scale);

  const auto keep_at_least = [&](float threshold) {
    for (float& weight : scratch) weight = weight < threshold ? 0 : weight;
  };
  if (settings.top_k > 0 && settings.top_k < static_cast<int>(scratch.size()))
    keep_at_least(kth_largest(scratch, settings.top_k));
  if (settings.min_p > 0) keep_at_least(settings.min_p);  // the largest weight is 1
  if (settings.top_p < 1) keep_at_least(nucleus_threshold(scratch, settings.top_p, sum_in_order(scratch)));

  const float target = uniform * sum_in_order(scratch);
  float sum = 0;
  std::int32_t last = -1;
  for (std::size_t i = 0; i < scratch.size(); ++i) {
    if (scratch[i] == 0) continue;
    sum += scratch[i];
    last = static_cast<std::int32_t>(i);
    if (sum > target) return last;
  }
  return last;  // rounding can keep the sum below the target
}

}  // namespace starpo
