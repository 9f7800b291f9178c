#include "engine/cuda/runtime/devices.h"

namespace starpo::cuda {

DeviceList list_devices() {
  DeviceList list;
  list.unavailable = Unavailable{"built_without_cuda", "this trainer was built without CUDA",
                                 "install the CUDA toolkit (nvcc 12.0 or newer, 13.0 for driver 580), delete native/build and run npm run setup, or train on the processor (device cpu)"};
  return list;
}

}  // namespace starpo::cuda
