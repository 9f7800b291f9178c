#pragma once

#include <string_view>

namespace starpo {

// Precision of matrix products. bf16 rounds weights, their inputs, and cached keys and values to bfloat16.
// Accumulation, norms, softmax, master weights, their gradients and optimizer state stay in fp32.
enum class Precision { fp32, bf16 };

inline Precision precision_from_name(std::string_view name) {
  return name == "bf16" ? Precision::bf16 : Precision::fp32;
}

}  // namespace starpo
