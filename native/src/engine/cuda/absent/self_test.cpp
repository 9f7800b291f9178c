#include "engine/cuda/selftest/self_test.h"

#include <stdexcept>

namespace starpo::cuda {

void self_test(int, const std::string&, const OnCheckResult&) { throw std::logic_error("this trainer was built without CUDA"); }

}  // namespace starpo::cuda
