#include "cuda/selftest/self_test.h"

#include "cuda/runtime/devices.h"

namespace starpo::cuda {

void self_test(int device, const std::string&, const OnCheckResult&) { require_device(list_devices(), device); }

}  // namespace starpo::cuda
