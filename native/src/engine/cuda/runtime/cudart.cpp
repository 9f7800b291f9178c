#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "engine/cuda/runtime/devices.h"
#include "engine/cuda/runtime/event.h"
#include "engine/cuda/runtime/failure.h"
#include "engine/cuda/runtime/free_memory.h"
#include "engine/cuda/runtime/graph.h"
#include "engine/cuda/runtime/hidden_devices.h"
#include "engine/cuda/runtime/launch.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/cuda/runtime/stream.h"
#include "engine/cuda/runtime/unavailable.h"

// The runtime functions for a real device.
namespace starpo::cuda {
namespace {

std::string describe(cudaError_t error) {
  return std::string(cudaGetErrorString(error)) + " (" + cudaGetErrorName(error) + ")";
}

DriverFacts::Cause cause_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver: return DriverFacts::Cause::insufficient_driver;
    case cudaErrorNoDevice: return DriverFacts::Cause::no_device;
    default: return DriverFacts::Cause::other;
  }
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

// Returns whether copies from pageable memory are asynchronous, which is so on GPUs that use the host's page tables.
// Others stage the memory before the call returns.
bool copies_pageable_asynchronously(int device) {
  int uses_host_tables = 0;
  return cudaDeviceGetAttribute(&uses_host_tables, cudaDevAttrPageableMemoryAccessUsesHostPageTables, device) ==
             cudaSuccess &&
         uses_host_tables != 0;
}

// Discards an error in a destructor, which can't throw, or an error that a later call reports.
void ignore(cudaError_t) {}

}  // namespace

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears a non-sticky error
  const std::string message = std::string(what) + ": " + describe(error);
  throw error == cudaErrorMemoryAllocation ? out_of_memory_error(message) : device_error(message);
}

void allow_dynamic_shared(const void* kernel, std::size_t bytes, const char* name) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), name);
}

void use_device(int index) {
  static thread_local int current = -1;  // saves a call per launch
  if (index == current) return;
  if (cudaSetDevice(index) != cudaSuccess) {
    cudaGetLastError();
    require_device(list_devices(), index);
    check(cudaSetDevice(index), "cudaSetDevice");
  }
  current = index;
}

Stream::Stream(int device) : device_(device) {
  use_device(device);
  check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}
Stream::~Stream() {
  if (handle_) ignore(cudaStreamDestroy(handle_));
}
void Stream::synchronize() {
  use_device(device_);
  check(cudaStreamSynchronize(handle_), "cudaStreamSynchronize");
}

DeviceMemory device_memory(int device) {
  use_device(device);
  DeviceMemory memory{};
  check(cudaMemGetInfo(&memory.free_bytes, &memory.total_bytes), "cudaMemGetInfo");
  return memory;
}

void* allocate_on_device(std::size_t bytes) {
  void* memory = nullptr;
  const std::string what = "cudaMalloc of " + std::to_string(bytes) + " bytes";
  check(cudaMalloc(&memory, bytes), what.c_str());
  return memory;
}
void release_on_device(void* memory) noexcept { ignore(cudaFree(memory)); }

void* allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  if (cudaMallocHost(&memory, bytes) != cudaSuccess) {
    cudaGetLastError();
    throw std::bad_alloc();
  }
  return memory;
}
void release_pinned(void* memory) noexcept { ignore(cudaFreeHost(memory)); }

// Skips copies of size 0, whose pointers may be null.
void copy_to_device(Stream& stream, void* device, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  use_device(stream.device());
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream.handle()), "copying to the device");
  if (copies_pageable_asynchronously(stream.device())) stream.synchronize();
}
void copy_to_host(Stream& stream, void* host, const void* device, std::size_t bytes) {
  if (bytes == 0) return;
  use_device(stream.device());
  check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream.handle()), "copying to the host");
}
void fill_bytes(Stream& stream, void* device, unsigned char value, std::size_t bytes) {
  if (bytes == 0) return;
  use_device(stream.device());
  check(cudaMemsetAsync(device, value, bytes, stream.handle()), "cudaMemsetAsync");
}

Event::Event(Stream& stream) {
  use_device(stream.device());
  check(cudaEventCreate(&handle_), "cudaEventCreate");
}
Event::~Event() {
  if (handle_) ignore(cudaEventDestroy(handle_));
}
void Event::record(Stream& stream) {
  use_device(stream.device());
  check(cudaEventRecord(handle_, stream.handle()), "cudaEventRecord");
}
double Event::milliseconds_since(const Event& earlier) const {
  check(cudaEventSynchronize(handle_), "cudaEventSynchronize");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, earlier.handle_, handle_), "cudaEventElapsedTime");
  return milliseconds;
}

Graph::Graph(Stream& stream, const std::function<void()>& work) {
  cudaGraph_t graph = nullptr;
  use_device(stream.device());
  // Relaxed: a library may load a kernel during capture, which allocates memory and would invalidate other modes.
  check(cudaStreamBeginCapture(stream.handle(), cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  try {
    work();
  } catch (...) {
    ignore(cudaStreamEndCapture(stream.handle(), &graph));
    if (graph) ignore(cudaGraphDestroy(graph));
    cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(stream.handle(), &graph), "cudaStreamEndCapture");
  const cudaError_t error = cudaGraphInstantiate(&handle_, graph, 0);
  ignore(cudaGraphDestroy(graph));
  check(error, "cudaGraphInstantiate");
}
Graph::~Graph() {
  if (handle_) ignore(cudaGraphExecDestroy(handle_));
}
void Graph::launch(Stream& stream) {
  use_device(stream.device());
  check(cudaGraphLaunch(handle_, stream.handle()), "cudaGraphLaunch");
}

DeviceList list_devices() {
  DeviceList list;
  ignore(cudaRuntimeGetVersion(&list.runtime_version));
  ignore(cudaDriverGetVersion(&list.driver_version));
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0) {
    cudaGetLastError();
    list.unavailable =
        explain_no_device({.cause = error == cudaSuccess ? DriverFacts::Cause::no_device : cause_of(error),
                           .error = describe(error),
                           .runtime_version = list.runtime_version,
                           .driver_version = list.driver_version,
                           .kernel_driver = read_kernel_driver()});
    return list;
  }
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    Device device;
    device.index = index;
    if (const cudaError_t error = cudaGetDeviceProperties(&properties, index); error == cudaSuccess) {
      device.name = properties.name;
      device.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
      device.compute_major = properties.major;
      device.compute_minor = properties.minor;
      device.multiprocessors = properties.multiProcessorCount;
      device.uuid = uuid_text(properties.uuid);
      device.unavailable = explain_compute_capability(properties.major, properties.minor);
    } else {
      cudaGetLastError();
      device.name = "GPU " + std::to_string(index);
      device.unavailable = Unavailable{"gpu_failed", "querying it failed: " + describe(error),
                                       "check nvidia-smi and the kernel log (dmesg)"};
    }
    char bus[32] = "";
    if (cudaDeviceGetPCIBusId(bus, sizeof bus, index) == cudaSuccess) device.pci_bus_id = bus;
    cudaGetLastError();
    list.devices.push_back(std::move(device));
  }
  read_free_memory(list.devices);
  add_hidden_devices(list.devices, std::getenv("CUDA_VISIBLE_DEVICES"));
  return list;
}

}  // namespace starpo::cuda
