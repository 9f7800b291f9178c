#include "engine/trainable.h"

#include <cmath>
#include <stdexcept>

#include "model/parameters.h"

namespace starpo {

std::size_t Trainable::size() const { return tensors().empty() ? 0 : tensors().back().offset + tensors().back().size; }

std::vector<float> read_state(const Trainable& trainable, StateVector which) {
  std::vector<float> values(trainable.size());
  trainable.read(which, 0, values);
  return values;
}

void write_state(Trainable& trainable, StateVector which, std::span<const float> values) {
  if (values.size() != trainable.size())
    throw std::invalid_argument("a state vector must have the size of the weights");
  trainable.write(which, 0, values);
}

float reduced_norm(std::span<const double> squared_norms) {
  double sum = 0;
  for (const double square : squared_norms) sum += square;
  return static_cast<float>(std::sqrt(sum));
}

float clip_scale(float norm, float gradient_clip) {
  return gradient_clip > 0 && norm > gradient_clip ? gradient_clip / norm : 1.0f;
}

float bias_correction(double beta, std::int64_t steps) {
  double power = 1;
  for (; steps > 0; steps /= 2, beta *= beta)
    if (steps % 2 != 0) power *= beta;
  return static_cast<float>(1 / (1 - power));
}

OptimizerStep take_step(Trainable& trainable, const AdamWSettings& settings) {
  const double squares = trainable.squared_norm();
  const float norm = reduced_norm({&squares, 1});
  if (!std::isfinite(norm)) return {norm, true};
  return {norm, trainable.apply(settings, clip_scale(norm, settings.gradient_clip))};
}

}  // namespace starpo
