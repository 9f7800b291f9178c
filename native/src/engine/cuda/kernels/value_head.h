#pragma once

#include "engine/cuda/runtime/stream.h"

// The head of a critic: a linear layer that computes a value from each row of features. T: Bf16 or float. columns: a
// multiple of 8. Pointers are device memory, aligned to 16 bytes.
namespace starpo::cuda {

// values[r] = features[r] . weight + bias[0]. features: [rows, columns], weight: [columns], values: [rows].
template <class T>
void value_head(Stream&, int rows, int columns, const T* features, const float* weight, const float* bias,
                float* values);

// weight_gradient += sum over rows of value_gradients[r] features[r]; bias_gradient[0] += sum over rows of
// value_gradients[r]; features_gradient[r] = value_gradients[r] weight, unless it is null. partials: scratch for
// column_sums_partials(rows, columns) floats.
template <class T>
void value_head_backward(Stream&, int rows, int columns, const T* features, const float* weight,
                         const float* value_gradients, T* features_gradient, float* weight_gradient,
                         float* bias_gradient, float* partials);

}  // namespace starpo::cuda
