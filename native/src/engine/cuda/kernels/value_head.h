#pragma once

#include <cstddef>

#include "engine/cuda/runtime/stream.h"

// A critic's head: one linear layer that gives each row of features a value. T: Bf16 or float; columns: a multiple of
// 8; device memory, aligned to 16 bytes.
namespace starpo::cuda {

// values[r] = features[r] . weight + bias[0]. features: [rows, columns], weight: [columns], values: [rows].
template <class T>
void value_head(Stream&, int rows, int columns, const T* features, const float* weight, const float* bias,
                float* values);

// weight_gradient += sum of value_gradients[r] features[r], bias_gradient[0] += their sum and, where it isn't null,
// features_gradient[r] = value_gradients[r] weight. partials: scratch of column_sums_partials(rows, columns) floats.
template <class T>
void value_head_backward(Stream&, int rows, int columns, const T* features, const float* weight,
                         const float* value_gradients, T* features_gradient, float* weight_gradient,
                         float* bias_gradient, float* partials);

}  // namespace starpo::cuda
