#include <doctest/doctest.h>

#include "base/error.h"
#include "engine/cuda/choose_gpu.h"
#include "error_code.h"

using namespace starpo;

namespace {

// The first GPU is too old, the second usable.
cuda::DeviceList two_gpus() {
  cuda::DeviceList list;
  list.devices.resize(2);
  list.devices[0].name = "Old";
  list.devices[1].name = "New";
  list.devices[1].index = 1;
  list.devices[0].unavailable = cuda::Unavailable{"gpu_too_old", "its compute capability is 7.5", "use a newer one"};
  return list;
}

cuda::DeviceList no_driver() {
  cuda::DeviceList list;
  list.unavailable = cuda::Unavailable{"driver_missing", "there is no driver", "install one"};
  return list;
}

std::string error_text(const std::string& device, const cuda::DeviceList& list) {
  try {
    choose_gpu(device, list);
  } catch (const Error& error) {
    CHECK(error.code() == "device_unavailable");
    return std::string(error.what()) + "; " + error.hint();
  }
  FAIL(device << " was found");
  return {};
}

}  // namespace

TEST_CASE("a GPU is chosen by name, or the first usable GPU") {
  const cuda::DeviceList list = two_gpus();
  CHECK(choose_gpu("cpu", list) == nullptr);
  for (const char* device : {"auto", "cuda", "cuda:1"}) {
    CAPTURE(device);
    REQUIRE(choose_gpu(device, list) != nullptr);
    CHECK(choose_gpu(device, list)->name == "New");
  }
  CHECK(choose_gpu("auto", no_driver()) == nullptr);
}

TEST_CASE("an unusable GPU is rejected with reason and hint") {
  for (const char* device : {"cuda", "cuda:0"}) {
    CAPTURE(device);
    CHECK(error_text(device, no_driver()) == "cuda:0 is not usable: there is no driver; install one");
  }
  cuda::DeviceList old = two_gpus();
  old.devices.pop_back();
  for (const char* device : {"cuda", "cuda:0"})
    CHECK(error_text(device, old) == "cuda:0 (Old) is not usable: its compute capability is 7.5; use a newer one");
  CHECK(error_text("cuda:2", two_gpus()).starts_with("cuda:2 does not exist: the last GPU is cuda:1"));
  for (const char* device : {"gpu", "cuda:", "cuda:1x", "cuda:-1", "CUDA:1", ""}) {
    CAPTURE(device);
    CHECK(error_text(device, two_gpus()).starts_with("unknown device " + std::string(device)));
  }
}
