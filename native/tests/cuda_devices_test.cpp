#include <doctest/doctest.h>

#include "engine/cuda/runtime/unavailable.h"
#include "error_code.h"

using namespace starpo::cuda;
using Cause = DriverFacts::Cause;

TEST_CASE("the reason for a missing CUDA device is reported with a hint") {
  DriverFacts facts{.cause = Cause::insufficient_driver,
                    .error = "",
                    .runtime_version = 13000,
                    .driver_version = 0,
                    .kernel_driver = ""};
  CHECK(explain_no_device(facts).code == "driver_missing");
  CHECK(explain_no_device(facts).hint.find("580 or newer") != std::string::npos);

  facts.kernel_driver = "580.65.06";
  CHECK(explain_no_device(facts).code == "driver_missing");
  CHECK(explain_no_device(facts).message.find("libcuda.so.1") != std::string::npos);

  facts.driver_version = 12020;
  facts.kernel_driver = "535.183.01";
  CHECK(explain_no_device(facts).code == "driver_too_old");
  CHECK(explain_no_device(facts).message ==
        "the NVIDIA driver 535.183.01 supports CUDA up to 12.2, but this trainer was built with CUDA 13.0");
  CHECK(explain_no_device(facts).hint.find("580 or newer") != std::string::npos);
  CHECK(explain_no_device(facts).hint.find("an older CUDA toolkit") != std::string::npos);
  facts.driver_version = 11080;
  CHECK(explain_no_device(facts).hint.find("an older CUDA toolkit") == std::string::npos);

  facts.runtime_version = 12080;
  CHECK(explain_no_device(facts).hint.find("525 or newer") != std::string::npos);

  facts.cause = Cause::no_device;
  CHECK(explain_no_device(facts).code == "no_gpu");
  CHECK(explain_no_device(facts).hint.find("CUDA_VISIBLE_DEVICES") != std::string::npos);

  facts.cause = Cause::other;
  facts.error = "system not yet initialized (cudaErrorSystemNotReady)";
  CHECK(explain_no_device(facts).code == "gpu_failed");
  CHECK(explain_no_device(facts).message.find("cudaErrorSystemNotReady") != std::string::npos);
}

TEST_CASE("the version of the kernel module is parsed") {
  CHECK(parse_kernel_driver("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC "
                            "2024\nGCC version:  gcc 12\n") == "535.183.01");
  CHECK(parse_kernel_driver(
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder@U16)\n") ==
        "580.65.06");
  CHECK(parse_kernel_driver("").empty());
}

TEST_CASE("an unusable device is rejected with the reason") {
  DeviceList list;
  Device old, good;
  old.name = "Tesla T4";
  old.unavailable = explain_compute_capability(7, 5);
  good.index = 1;
  good.unavailable = explain_compute_capability(8, 0);
  list.devices = {old, good};
  CHECK(require_device(list, 1).index == 1);
  const auto error_text = [&](int index) {
    try {
      require_device(list, index);
    } catch (const starpo::Error& error) {
      return error.code() + ": " + error.what();
    }
    return std::string("accepted");
  };
  CHECK(error_text(0) ==
        "device_unavailable: cuda:0 (Tesla T4) is not usable: its compute capability is 7.5, but the kernels need 8.0 "
        "or higher");
  CHECK(error_text(2) == "device_unavailable: cuda:2 does not exist: the last GPU is cuda:1");
  list = {};
  list.unavailable = Unavailable{"no_gpu", "the NVIDIA driver shows no GPU", "look"};
  CHECK(error_text(0) == "device_unavailable: cuda:0 is not usable: the NVIDIA driver shows no GPU");
}
