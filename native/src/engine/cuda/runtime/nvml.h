#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace starpo::cuda {

// NVML, the library of nvidia-smi. It answers about GPUs without using their memory, and lists MIG slices that CUDA
// hides. Functions return an empty value if the library or its answer is missing.
class Nvml {
 public:
  using Handle = void*;

  explicit Nvml(const char* library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::optional<Handle> gpu_at(const std::string& pci_bus_id) const;
  std::optional<Handle> device_of(const std::string& uuid) const;
  std::vector<Handle> gpus() const;
  // Returns whether a GPU is used as MIG slices only.
  bool is_sliced(Handle gpu) const;
  std::vector<Handle> slices(Handle gpu) const;
  std::optional<std::int64_t> free_bytes(Handle device) const;
  std::optional<std::int64_t> memory_bytes(Handle device) const;
  std::string uuid(Handle device) const;
  std::string name(Handle device) const;
  std::pair<int, int> compute_capability(Handle gpu) const;
  int multiprocessors(Handle slice) const;

 private:
  template <class... Arguments>
  bool call(const char* function, Arguments... arguments) const;

  void* library_ = nullptr;  // null: unusable
};

}  // namespace starpo::cuda
