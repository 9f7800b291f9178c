#include "engine/cuda/runtime/unavailable.h"

#include <fstream>
#include <iterator>
#include <sstream>

#include "base/error.h"

namespace starpo::cuda {
namespace {

// Returns the oldest driver that runs programs built with this major version of CUDA (NVIDIA's compatibility guide).
int oldest_driver(int runtime_version) { return runtime_version >= 13000 ? 580 : 525; }

constexpr int kMinComputeMajor = 8;
constexpr const char* kUseCpu = "or use the CPU (device cpu)";

}  // namespace

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string parse_kernel_driver(const std::string& text) {
  std::istringstream words(text.substr(0, text.find('\n')));
  for (std::string word; words >> word;)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  return "";
}

std::string read_kernel_driver() {
  std::ifstream file("/proc/driver/nvidia/version");
  return parse_kernel_driver({std::istreambuf_iterator<char>(file), {}});
}

Unavailable explain_no_device(const DriverFacts& facts) {
  const std::string driver = std::to_string(oldest_driver(facts.runtime_version));
  const std::string newer = "install NVIDIA driver " + driver + " or newer (nvidia-smi shows the one you have), ";
  if (facts.driver_version == 0 && facts.kernel_driver.empty())
    return {"driver_missing", "no NVIDIA driver is installed",
            "if this machine has an NVIDIA GPU, install driver " + driver + " or newer, " + kUseCpu};
  if (facts.driver_version == 0)
    return {
        "driver_missing",
        "the NVIDIA driver " + facts.kernel_driver + " is loaded, but its library libcuda.so.1 was not found",
        std::string("in a container, use the NVIDIA runtime (docker run --gpus all); otherwise install the driver's "
                    "libraries, ") +
            kUseCpu};
  if (facts.cause == DriverFacts::Cause::no_device)
    return {"no_gpu", "the NVIDIA driver found no GPU",
            std::string("check nvidia-smi and CUDA_VISIBLE_DEVICES, ") + kUseCpu};
  if (facts.cause == DriverFacts::Cause::insufficient_driver) {
    const bool supports_oldest_toolkit = facts.driver_version >= 12000;
    const std::string name =
        facts.kernel_driver.empty() ? "the NVIDIA driver" : "the NVIDIA driver " + facts.kernel_driver;
    return {"driver_too_old",
            name + " supports CUDA up to " + cuda_version_text(facts.driver_version) +
                ", but this trainer was built with CUDA " + cuda_version_text(facts.runtime_version),
            newer + (supports_oldest_toolkit ? "build the trainer with an older CUDA toolkit (12.0 or newer), " : "") +
                kUseCpu};
  }
  return {"gpu_failed", "the NVIDIA driver failed: " + facts.error,
          std::string("check nvidia-smi and the kernel log (dmesg), ") + kUseCpu};
}

std::optional<Unavailable> explain_compute_capability(int major, int minor) {
  if (major >= kMinComputeMajor) return {};
  return Unavailable{"gpu_too_old",
                     "its compute capability is " + std::to_string(major) + "." + std::to_string(minor) +
                         ", but the kernels need 8.0 or higher",
                     std::string("use a GPU of the Ampere generation (A100, RTX 30) or newer, ") + kUseCpu};
}

const Device& require_device(const DeviceList& list, int index) {
  const std::string name = "cuda:" + std::to_string(index);
  if (list.unavailable)
    throw Error("device_unavailable", name + " is not usable: " + list.unavailable->message, list.unavailable->hint);
  for (const auto& device : list.devices) {
    if (device.index != index) continue;
    if (device.unavailable)
      throw Error("device_unavailable", name + " (" + device.name + ") is not usable: " + device.unavailable->message,
                  device.unavailable->hint);
    if (device.hidden)
      throw Error("device_unavailable",
                  name + " (" + device.name + ") is hidden: CUDA shows one MIG slice to a process",
                  "set CUDA_VISIBLE_DEVICES=" + device.uuid + " and use cuda:0");
    return device;
  }
  throw Error("device_unavailable",
              name + " does not exist: the last GPU is cuda:" + std::to_string(list.devices.size() - 1),
              "starpo-trainer devices lists them");
}

}  // namespace starpo::cuda
