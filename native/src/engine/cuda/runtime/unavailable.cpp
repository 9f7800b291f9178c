#include "engine/cuda/runtime/unavailable.h"

#include <fstream>
#include <iterator>
#include <sstream>

#include "base/error.h"

namespace starpo::cuda {
namespace {

// The oldest driver that runs programs built with a major version of CUDA, of whatever minor one (NVIDIA's
// compatibility guide).
int oldest_driver(int runtime_version) { return runtime_version >= 13000 ? 580 : 525; }

constexpr int least_compute_major = 8;
constexpr const char* train_on_cpu = "or train on the processor (device cpu)";

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
    return {"driver_missing", "there is no NVIDIA driver", newer + train_on_cpu};
  if (facts.driver_version == 0)
    return {"driver_missing",
            "the NVIDIA driver " + facts.kernel_driver + " is loaded, but its library libcuda.so.1 isn't found",
            std::string("in a container, start it with the NVIDIA runtime (docker run --gpus all); else install the "
                        "driver's libraries, ") +
                train_on_cpu};
  if (facts.answer == DriverFacts::Answer::no_device)
    return {"no_gpu", "the NVIDIA driver shows no GPU",
            std::string("check nvidia-smi and the variable CUDA_VISIBLE_DEVICES, ") + train_on_cpu};
  if (facts.answer == DriverFacts::Answer::insufficient_driver) {
    const std::string name =
        facts.kernel_driver.empty() ? "the NVIDIA driver" : "the NVIDIA driver " + facts.kernel_driver;
    return {"driver_too_old",
            name + " goes up to CUDA " + cuda_version_text(facts.driver_version) +
                ", and this trainer was built with CUDA " + cuda_version_text(facts.runtime_version),
            newer + "build the trainer with an older CUDA toolkit (12.0 at least), " + train_on_cpu};
  }
  return {"gpu_failed", "the NVIDIA driver can't be used: " + facts.error,
          std::string("check nvidia-smi and the kernel's messages (dmesg), ") + train_on_cpu};
}

std::optional<Unavailable> explain_compute_capability(int major, int minor) {
  if (major >= least_compute_major) return {};
  return Unavailable{
      "gpu_too_old",
      "its compute capability is " + std::to_string(major) + "." + std::to_string(minor) + ", and the kernels need 8.0",
      std::string("use a GPU of the Ampere generation (A100, RTX 30) or a newer one, ") + train_on_cpu};
}

const Device& require_device(const DeviceList& list, int index) {
  const std::string name = "cuda:" + std::to_string(index);
  if (list.unavailable)
    throw Error("device_unavailable", name + " can't be used: " + list.unavailable->message, list.unavailable->hint);
  for (const auto& device : list.devices) {
    if (device.index != index) continue;
    if (device.unavailable)
      throw Error("device_unavailable", name + " (" + device.name + ") can't be used: " + device.unavailable->message,
                  device.unavailable->hint);
    return device;
  }
  throw Error("device_unavailable",
              "there is no " + name + ": the last one is cuda:" + std::to_string(list.devices.size() - 1),
              "starpo-trainer devices lists them");
}

}  // namespace starpo::cuda
