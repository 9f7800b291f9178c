// Replaces the CUDA engine in a trainer that was built without CUDA.
#include <stdexcept>

#include "engine/cuda/engine/make_engine.h"
#include "engine/cuda/runtime/devices.h"
#include "engine/cuda/selftest/self_test.h"
#include "engine/cuda/timing/kernel_times.h"

namespace starpo::cuda {

DeviceList list_devices() {
  DeviceList list;
  list.unavailable = Unavailable{"built_without_cuda", "this trainer was built without CUDA",
                                 "use the CPU (device cpu), or rebuild the trainer in the repository: install the CUDA "
                                 "toolkit (nvcc 12.0 or newer; 13.0 needs driver 580), delete native/build and run "
                                 "npm run setup"};
  return list;
}

std::unique_ptr<Engine> make_engine(const Device&, const EngineSettings&) {
  throw std::logic_error("this trainer was built without CUDA");
}

void self_test(int, const std::string&, const OnCheckResult&) {
  throw std::logic_error("this trainer was built without CUDA");
}

KernelTimes time_kernels(int, const TimedSteps&, const TimingEffort&) {
  throw std::logic_error("this trainer was built without CUDA");
}
double KernelTimes::share_of_ceiling(const KernelTime&) const { return 0; }

}  // namespace starpo::cuda
