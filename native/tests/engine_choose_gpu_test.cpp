#include <doctest/doctest.h>

#include "base/error.h"
#include "engine/cuda/choose_gpu.h"
#include "engine/cuda/runtime/free_memory.h"
#include "engine/cuda/runtime/hidden_devices.h"
#include "error_code.h"
#include "repository.h"

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

TEST_CASE("cuda:N selects that GPU, cuda and auto a usable one") {
  const cuda::DeviceList list = two_gpus();
  CHECK(choose_gpu("cpu", list) == nullptr);
  for (const char* device : {"auto", "cuda", "cuda:1"}) {
    CAPTURE(device);
    REQUIRE(choose_gpu(device, list) != nullptr);
    CHECK(choose_gpu(device, list)->name == "New");
  }
  CHECK(choose_gpu("auto", no_driver()) == nullptr);
}

TEST_CASE("cuda selects the usable GPU with the most free memory") {
  cuda::DeviceList list;
  list.devices.resize(3);
  for (int i = 0; i < 3; ++i) list.devices[i].index = i;
  CHECK(choose_gpu("cuda", list)->index == 0);  // without NVML
  list.devices[0].pci_bus_id = "0000:01:00.0";
  list.devices[1].pci_bus_id = "0000:02:00.0";
  list.devices[2].pci_bus_id = "0000:03:00.0";
  cuda::read_free_memory(list.devices, test::fake_nvml().c_str());
  CHECK(list.devices[0].free_bytes == 10);
  CHECK(list.devices[1].free_bytes == 60);
  CHECK(list.devices[2].free_bytes == -1);
  for (const char* device : {"auto", "cuda"}) CHECK(choose_gpu(device, list)->index == 1);
  CHECK(choose_gpu("cuda:0", list)->index == 0);
  list.devices[1].unavailable = cuda::Unavailable{"gpu_too_old", "its compute capability is 7.5", "use a newer one"};
  CHECK(choose_gpu("cuda", list)->index == 0);

  // A slice has the PCI address of its GPU, but its own memory.
  cuda::DeviceList sliced;
  sliced.devices.resize(2);
  sliced.devices[0].pci_bus_id = sliced.devices[1].pci_bus_id = "0000:02:00.0";
  sliced.devices[0].uuid = "GPU-51ce";
  sliced.devices[1].uuid = "GPU-0123";
  cuda::read_free_memory(sliced.devices, test::fake_nvml().c_str());
  CHECK(sliced.devices[0].uuid == "MIG-51ce");
  CHECK(sliced.devices[0].free_bytes == 7);
  CHECK(sliced.devices[1].uuid == "GPU-0123");
  CHECK(sliced.devices[1].free_bytes == 60);

  cuda::DeviceList unknown;
  unknown.devices.resize(2);
  cuda::read_free_memory(unknown.devices, "/no/such/library.so");
  CHECK(unknown.devices[1].free_bytes == -1);
}

TEST_CASE("MIG slices that CUDA hides are listed, and selected with CUDA_VISIBLE_DEVICES") {
  const auto listed = [](const char* visible, const char* shown) {
    cuda::DeviceList list;
    list.devices.resize(1);
    list.devices[0].uuid = shown;
    list.devices[0].name = "Shown";
    cuda::add_hidden_devices(list.devices, visible, test::fake_nvml().c_str());
    return list;
  };
  const auto uuids = [&](const char* visible) {
    std::string text;
    for (const auto& device : listed(visible, "MIG-51ce").devices) text += (text.empty() ? "" : " ") + device.uuid;
    return text;
  };
  CHECK(uuids(nullptr) == "MIG-51ce MIG-77aa GPU-bbbb");
  CHECK(uuids("MIG-51ce") == "MIG-51ce");
  CHECK(uuids("MIG-51ce,MIG-77") == "MIG-51ce MIG-77aa");
  CHECK(uuids("0") == "MIG-51ce MIG-77aa");
  CHECK(uuids("GPU-aaaa,1") == "MIG-51ce MIG-77aa GPU-bbbb");

  const cuda::DeviceList list = listed(nullptr, "MIG-51ce");
  const cuda::Device& slice = list.devices[1];
  CHECK(slice.index == 1);
  CHECK(slice.name == "Sliced MIG 2g");
  CHECK(slice.memory_bytes == 20);
  CHECK(slice.free_bytes == 19);
  CHECK(slice.compute_major == 9);
  CHECK(slice.multiprocessors == 16);
  CHECK(choose_gpu("auto", list)->name == "Shown");
  CHECK(error_text("cuda:1", list) ==
        "cuda:1 (Sliced MIG 2g) is hidden: CUDA shows one MIG slice to a process; "
        "set CUDA_VISIBLE_DEVICES=MIG-77aa and use cuda:0");

  std::vector<cuda::Device> without_nvml(1);
  cuda::add_hidden_devices(without_nvml, nullptr, "/no/such/library.so");
  CHECK(without_nvml.size() == 1);
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
