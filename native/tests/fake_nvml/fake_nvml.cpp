// NVML's functions for two GPUs, of which the one at 0000:02:00.0 has more free memory, and for a MIG slice of the
// other.
#include <cstring>

namespace {

struct Memory {
  unsigned long long total, free, used;
};
bool started = false;
Memory gpus[] = {{80, 10, 70}, {80, 60, 20}};
Memory slice = {10, 7, 3};

}  // namespace

extern "C" {

int nvmlInit_v2() { return started = true, 0; }
int nvmlShutdown() { return started = false, 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** handle) {
  constexpr int not_found = 6;
  for (int i = 0; i < 2; ++i)
    if (std::strcmp(bus, i == 0 ? "0000:01:00.0" : "0000:02:00.0") == 0) return *handle = &gpus[i], 0;
  return not_found;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  constexpr int not_found = 6;
  return std::strcmp(uuid, "MIG-51ce") == 0 ? (*handle = &slice, 0) : not_found;
}
int nvmlDeviceGetMemoryInfo(void* handle, Memory* memory) {
  constexpr int uninitialized = 1;
  if (!started) return uninitialized;
  *memory = *static_cast<Memory*>(handle);
  return 0;
}
}
