#include <doctest/doctest.h>

#include "base/error.h"
#include "engine/cuda/choose_gpu.h"
#include "error_code.h"

using namespace starpo;

namespace {

// The first is too old, the second can be used.
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

std::string refusal(const std::string& wanted, const cuda::DeviceList& list) {
  try {
    choose_gpu(wanted, list);
  } catch (const Error& error) {
    CHECK(error.code() == "device_unavailable");
    return std::string(error.what()) + "; " + error.hint();
  }
  FAIL(wanted << " was found");
  return {};
}

}  // namespace

TEST_CASE("a GPU is chosen by its name, or the first that can be used") {
  const cuda::DeviceList list = two_gpus();
  CHECK(choose_gpu("cpu", list) == nullptr);
  for (const char* wanted : {"auto", "cuda", "cuda:1"}) {
    CAPTURE(wanted);
    REQUIRE(choose_gpu(wanted, list) != nullptr);
    CHECK(choose_gpu(wanted, list)->name == "New");
  }
  CHECK(choose_gpu("auto", no_driver()) == nullptr);
}

TEST_CASE("a GPU that can't be used is refused with the reason and what to do") {
  for (const char* wanted : {"cuda", "cuda:0"}) {
    CAPTURE(wanted);
    CHECK(refusal(wanted, no_driver()) == "cuda:0 is not usable: there is no driver; install one");
  }
  cuda::DeviceList old = two_gpus();
  old.devices.pop_back();
  for (const char* wanted : {"cuda", "cuda:0"})
    CHECK(refusal(wanted, old) == "cuda:0 (Old) is not usable: its compute capability is 7.5; use a newer one");
  CHECK(refusal("cuda:2", two_gpus()).starts_with("cuda:2 does not exist: the last GPU is cuda:1"));
  for (const char* wanted : {"gpu", "cuda:", "cuda:1x", "cuda:-1", "CUDA:1", ""}) {
    CAPTURE(wanted);
    CHECK(refusal(wanted, two_gpus()).starts_with("unknown device " + std::string(wanted)));
  }
}
