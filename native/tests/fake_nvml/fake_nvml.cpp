// NVML's functions for two GPUs. The one at 0000:01:00.0 is used as two MIG slices; the other has more free memory.
#include <cstdio>
#include <cstring>

namespace {

struct Memory {
  unsigned long long total, free, used;
};
struct Attributes {
  unsigned multiprocessors, others[7];
  unsigned long long memory_megabytes;
};
struct FakeDevice {
  const char *uuid, *name;
  Memory memory;
};
bool started = false;
FakeDevice gpus[] = {{"GPU-aaaa", "Sliced", {80, 10, 70}}, {"GPU-bbbb", "Whole", {80, 60, 20}}};
FakeDevice slices[] = {{"MIG-51ce", "Sliced MIG 1g", {10, 7, 3}}, {"MIG-77aa", "Sliced MIG 2g", {20, 19, 1}}};
constexpr int kNotFound = 6;

int write_text(const char* text, char* to, unsigned length) { return std::snprintf(to, length, "%s", text), 0; }

}  // namespace

extern "C" {

int nvmlInit_v2() { return started = true, 0; }
int nvmlShutdown() { return started = false, 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 2, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) { return *handle = &gpus[index], 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** handle) {
  for (int i = 0; i < 2; ++i)
    if (std::strcmp(bus, i == 0 ? "0000:01:00.0" : "0000:02:00.0") == 0) return *handle = &gpus[i], 0;
  return kNotFound;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  for (auto& slice : slices)
    if (std::strcmp(uuid, slice.uuid) == 0) return *handle = &slice, 0;
  return kNotFound;
}
int nvmlDeviceGetMigMode(void* gpu, unsigned* current, unsigned* pending) {
  return *current = *pending = gpu == &gpus[0] ? 1 : 0, 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) { return *count = 7, 0; }
int nvmlDeviceGetMigDeviceHandleByIndex(void*, unsigned index, void** handle) {
  return index < 2 ? (*handle = &slices[index], 0) : kNotFound;
}
int nvmlDeviceGetUUID(void* handle, char* text, unsigned length) {
  return write_text(static_cast<FakeDevice*>(handle)->uuid, text, length);
}
int nvmlDeviceGetName(void* handle, char* text, unsigned length) {
  return write_text(static_cast<FakeDevice*>(handle)->name, text, length);
}
int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) { return *major = 9, *minor = 0, 0; }
int nvmlDeviceGetAttributes_v2(void*, Attributes* attributes) { return attributes->multiprocessors = 16, 0; }
int nvmlDeviceGetMemoryInfo(void* handle, Memory* memory) {
  constexpr int uninitialized = 1;
  if (!started) return uninitialized;
  *memory = static_cast<FakeDevice*>(handle)->memory;
  return 0;
}
}
