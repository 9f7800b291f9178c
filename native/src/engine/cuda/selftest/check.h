#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/check_result.h"
#include "engine/cuda/runtime/stream.h"

namespace starpo::cuda {

// One thing that an operation must do. It makes its own inputs and buffers, poisons what the kernel must write, and
// compares with a reference in double on the host.
struct Check {
  std::string name;  // operation and shape, as "gemm_nt bf16 77x136x72"
  double tolerance;
  // The normalised mean square error sum((x - reference)^2) / sum(reference^2); where bits must be equal: 0, or 1 where
  // they aren't.
  std::function<double(Stream&)> error;
};

constexpr double kFp32Tolerance = 1e-7;
constexpr double kBf16Tolerance = 5e-4;
constexpr double kExact = 0;

using starpo::normalised_mean_square_error;

}  // namespace starpo::cuda
