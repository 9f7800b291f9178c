#pragma once

#include <span>
#include <vector>

#include "base/aligned_buffer.h"

namespace starpo {

// A value for each row of features: one linear layer. weights: [hidden + 1], the bias last; 0 to begin with.
class ValueHead {
 public:
  explicit ValueHead(int hidden);

  std::span<float> mutable_weights() { return weights_; }
  void weights_changed();

  // features: [rows, hidden] -> values: [rows]. Keeps a copy of the features for backward.
  void forward(std::span<const float> features, std::span<float> values);

  // Adds d(loss)/d(weights) to gradients: one chain over rows, in order, whatever the batches. The features get no gradient.
  void backward(std::span<const float> value_gradients, std::span<float> gradients);

 private:
  int hidden_;
  std::vector<float> weights_;
  std::vector<float> features_;
  AlignedBuffer packed_;
};

}  // namespace starpo
