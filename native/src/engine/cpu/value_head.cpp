#include "engine/cpu/value_head.h"

#include <stdexcept>

#include "engine/cpu/packed_weights.h"
#include "engine/cpu/kernels/kernels.h"

namespace starpo {

ValueHead::ValueHead(int hidden) : hidden_(hidden), weights_(hidden + 1) {
  packed_.reserve(packed_size(hidden, 1));
  weights_changed();
}

void ValueHead::weights_changed() { pack_transposed(1, hidden_, weights_.data(), hidden_, packed_.data()); }

void ValueHead::forward(std::span<const float> features, std::span<float> values) {
  if (features.size() != values.size() * hidden_) throw std::invalid_argument("features must be [rows, hidden]");
  features_.assign(features.begin(), features.end());
  kernels().multiply(static_cast<int>(values.size()), 1, hidden_, features.data(), hidden_, packed_.data(), &weights_[hidden_], 0, values.data(), 1);
}

void ValueHead::backward(std::span<const float> value_gradients, std::span<float> gradients) {
  if (features_.size() != value_gradients.size() * hidden_) throw std::invalid_argument("gradients of values must be [rows] of the last forward");
  if (gradients.size() != weights_.size()) throw std::invalid_argument("gradients must have the weights' size");
  const int rows = static_cast<int>(value_gradients.size());
  kernels().accumulate_transposed(1, hidden_, rows, value_gradients.data(), 1, features_.data(), hidden_, gradients.data(), hidden_);
  kernels().column_sums(rows, 1, value_gradients.data(), 1, &gradients[hidden_]);
}

}  // namespace starpo
