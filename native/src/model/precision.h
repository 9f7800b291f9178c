#pragma once

#include <string_view>

namespace starpo {

// Arithmetic of the model's products. bf16: weights, what they multiply, and cached keys and values are rounded to
// bfloat16; sums, norms, softmax, weights to be trained, their gradients and the optimiser stay in float.
enum class Precision { fp32, bf16 };

inline Precision precision_from_name(std::string_view name) {
  return name == "bf16" ? Precision::bf16 : Precision::fp32;
}

}  // namespace starpo
