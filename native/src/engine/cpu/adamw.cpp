#include "engine/cpu/adamw.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/cpu/kernels/kernels.h"

namespace starpo {

namespace {

constexpr std::size_t kNormBlock = 1024;    // summed in float lanes; the blocks' sums are added in double, in order
constexpr std::size_t kTaskBlock = 32768;

int tasks(std::size_t size) { return static_cast<int>((size + kTaskBlock - 1) / kTaskBlock); }

double power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 != 0) result *= base;
  return result;
}

}  // namespace

AdamW::AdamW(std::size_t size) : first_moment(size), second_moment(size) {}

float AdamW::step(std::span<float> weights, std::span<const float> gradients, std::span<const std::uint8_t> decayed, const AdamWSettings& settings,
                  ThreadPool& threads) {
  const std::size_t size = first_moment.size();
  if (weights.size() != size || gradients.size() != size || decayed.size() != size || second_moment.size() != size)
    throw std::invalid_argument("AdamW: buffers differ in size");

  std::vector<float> squares((size + kNormBlock - 1) / kNormBlock);
  threads.parallel_for(tasks(size), [&](int task) {
    const std::size_t end = std::min(size, (task + 1) * kTaskBlock);
    for (std::size_t i = task * kTaskBlock; i < end; i += kNormBlock)
      squares[i / kNormBlock] = kernels().sum_of_squares(std::min(kNormBlock, end - i), gradients.data() + i);
  });
  double sum = 0;
  for (const float square : squares) sum += square;
  const float norm = static_cast<float>(std::sqrt(sum));
  if (!std::isfinite(norm)) return norm;

  ++steps;
  AdamWStep step{};
  step.gradient_scale = settings.gradient_clip > 0 && norm > settings.gradient_clip ? settings.gradient_clip / norm : 1.0f;
  step.beta1 = settings.beta1;
  step.beta2 = settings.beta2;
  step.learning_rate = settings.learning_rate;
  step.epsilon = settings.epsilon;
  step.decay = settings.learning_rate * settings.weight_decay;
  step.first_correction = static_cast<float>(1 / (1 - power(settings.beta1, steps)));
  step.second_correction = static_cast<float>(1 / (1 - power(settings.beta2, steps)));
  threads.parallel_for(tasks(size), [&](int task) {
    const std::size_t begin = task * kTaskBlock;
    kernels().adamw(std::min(size, begin + kTaskBlock) - begin, step, gradients.data() + begin, decayed.data() + begin, weights.data() + begin,
                    first_moment.data() + begin, second_moment.data() + begin);
  });
  return norm;
}

}  // namespace starpo
