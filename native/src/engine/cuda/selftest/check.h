#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/check_result.h"
#include "engine/cuda/runtime/stream.h"

namespace starpo::cuda {

// A check of an operation. It creates its own inputs and buffers, poisons the outputs, and compares them with a
// reference in double precision on the host.
struct Check {
  // The check calls error_(stream, arguments...).
  template <class Error, class... Arguments>
  Check(std::string name_, double tolerance_, Error error_, Arguments... arguments)
      : name(std::move(name_)),
        tolerance(tolerance_),
        error([=](Stream& stream) { return error_(stream, arguments...); }) {}

  std::string name;  // operation and shape, such as "gemm_nt bf16 77x136x72"
  double tolerance;
  // Returns the normalized mean square error sum((x - reference)^2) / sum(reference^2). If bits must be equal, returns
  // 0 if they are and 1 if not.
  std::function<double(Stream&)> error;
};

constexpr double kFp32Tolerance = 1e-7;
constexpr double kBf16Tolerance = 5e-4;
constexpr double kExact = 0;

using starpo::normalized_mean_square_error;

}  // namespace starpo::cuda
