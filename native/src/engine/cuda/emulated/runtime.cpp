#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/cuda/emulated/device.h"
#include "engine/cuda/runtime/devices.h"
#include "engine/cuda/runtime/event.h"
#include "engine/cuda/runtime/failure.h"
#include "engine/cuda/runtime/graph.h"
#include "engine/cuda/runtime/launch.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/cuda/runtime/stream.h"

// The runtime functions for the emulated device. Work runs when it is submitted, so that its errors are thrown there.

using Work = std::function<void()>;

struct CUstream_st {
  std::vector<Work>* capture = nullptr;
};

struct CUevent_st {
  std::chrono::steady_clock::time_point time;
};

struct CUgraphExec_st {
  std::vector<Work> work;
};

namespace starpo::cuda {
namespace {

constexpr std::size_t kAlignment = 256;
std::atomic<std::size_t> memory_bytes{emulated::kDefaultDeviceMemory};
std::atomic<std::size_t> used_bytes{0};
std::atomic<int> devices{1};
thread_local int current_device = 0;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
std::atomic<std::int64_t> calls{0}, failing_call{kNever};
std::atomic<emulated::Failure> failure{emulated::Failure::device};

void count_call() {
  const std::int64_t call = calls++;
  if (call < failing_call) return;
  if (failure == emulated::Failure::device) throw device_error("an emulated call");
  if (call == failing_call) throw out_of_memory_error("an emulated call");
}

// First byte and size of pinned memory.
std::mutex pinned_mutex;
std::map<const std::byte*, std::size_t> pinned;
std::atomic<std::int64_t> staged{0};

void count_if_staged(const void* host, std::size_t bytes) {
  const auto* const first = static_cast<const std::byte*>(host);
  const std::lock_guard lock(pinned_mutex);
  auto after = pinned.upper_bound(first);
  if (after != pinned.begin() && first + bytes <= std::prev(after)->first + std::prev(after)->second) return;
  ++staged;
}

// Precedes each allocation, in kAlignment bytes.
struct Header {
  std::size_t bytes;
};

}  // namespace

namespace emulated {

void set_device_memory(std::size_t bytes) { memory_bytes = bytes; }
void set_devices(int count) { devices = count; }

FailAfter::FailAfter(std::int64_t more, Failure kind) {
  failure = kind;
  failing_call = calls + more;
}
FailAfter::~FailAfter() { failing_call = kNever; }

std::int64_t device_calls() { return calls; }
std::int64_t staged_copies() { return staged; }

}  // namespace emulated

void use_device(int index) {
  if (index < 0 || index >= devices)
    throw Error("device_unavailable", "cuda:" + std::to_string(index) + " does not exist",
                "the last emulated device is cuda:" + std::to_string(devices - 1));
  current_device = index;
}

Stream::Stream(int device) : device_(device) {
  use_device(device);
  handle_ = new CUstream_st;
}

Stream::~Stream() { delete handle_; }

void Stream::synchronize() {
  use_device(device_);
  if (handle_->capture) throw std::logic_error("a stream can't be synchronized during graph capture");
  if (failure == emulated::Failure::device && calls > failing_call)
    throw device_error("waiting for the emulated device");
}

void submit(Stream& stream, Work work) {
  if (stream.device() != current_device)
    throw std::logic_error("work for cuda:" + std::to_string(stream.device()) +
                           " was submitted while cuda:" + std::to_string(current_device) + " is the current device");
  if (auto* capture = stream.handle()->capture)
    capture->push_back(std::move(work));
  else {
    count_call();
    work();
  }
}

static void copy(Stream& stream, void* to, const void* from, std::size_t bytes) {
  use_device(stream.device());
  submit(stream, [=] {
    if (bytes > 0) std::memcpy(to, from, bytes);
  });
}

void load_kernel(Stream& stream, const void* kernel, const char* name) {
  static std::mutex mutex;
  static std::unordered_set<const void*> loaded;
  const std::lock_guard lock(mutex);
  if (!stream.handle()->capture)
    loaded.insert(kernel);
  else if (!loaded.contains(kernel))
    throw std::logic_error("launch of " + std::string(name) +
                           ": a kernel must run before it is captured, because its first launch loads it");
}

// All emulated devices share their memory.
DeviceMemory device_memory(int) {
  return {memory_bytes - std::min(memory_bytes.load(), used_bytes.load()), memory_bytes};
}

void* allocate_on_device(std::size_t bytes) {
  count_call();
  if (bytes > device_memory(0).free_bytes)
    throw out_of_memory_error("an allocation of " + std::to_string(bytes) + " bytes");
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, kAlignment + bytes) != 0) throw std::bad_alloc();
  static_cast<Header*>(memory)->bytes = bytes;
  used_bytes += bytes;
  void* const device = static_cast<std::byte*>(memory) + kAlignment;
  std::memset(device, 0xff, bytes);
  return device;
}

void release_on_device(void* device) noexcept {
  void* const memory = static_cast<std::byte*>(device) - kAlignment;
  used_bytes -= static_cast<Header*>(memory)->bytes;
  std::free(memory);
}

void* allocate_pinned(std::size_t bytes) {
  void* const memory = ::operator new(bytes);
  const std::lock_guard lock(pinned_mutex);
  pinned[static_cast<std::byte*>(memory)] = bytes;
  return memory;
}
void release_pinned(void* memory) noexcept {
  {
    const std::lock_guard lock(pinned_mutex);
    pinned.erase(static_cast<std::byte*>(memory));
  }
  ::operator delete(memory);
}

void copy_to_device(Stream& stream, void* device, const void* host, std::size_t bytes) {
  count_if_staged(host, bytes);
  copy(stream, device, host, bytes);
}
void copy_to_host(Stream& stream, void* host, const void* device, std::size_t bytes) {
  count_if_staged(host, bytes);
  copy(stream, host, device, bytes);
}
void fill_bytes(Stream& stream, void* device, unsigned char value, std::size_t bytes) {
  use_device(stream.device());
  submit(stream, [=] {
    if (bytes > 0) std::memset(device, value, bytes);
  });
}

Event::Event(Stream&) { handle_ = new CUevent_st; }
Event::~Event() { delete handle_; }
void Event::record(Stream& stream) {
  use_device(stream.device());
  submit(stream, [handle = handle_] { handle->time = std::chrono::steady_clock::now(); });
}
double Event::milliseconds_since(const Event& earlier) const {
  return std::chrono::duration<double, std::milli>(handle_->time - earlier.handle_->time).count();
}

Graph::Graph(Stream& stream, const std::function<void()>& work) {
  auto graph = std::make_unique<CUgraphExec_st>();
  if (stream.handle()->capture) throw std::logic_error("the stream is already capturing a graph");
  stream.handle()->capture = &graph->work;
  try {
    work();
  } catch (...) {
    stream.handle()->capture = nullptr;
    throw;
  }
  stream.handle()->capture = nullptr;
  handle_ = graph.release();
}
Graph::~Graph() { delete handle_; }
void Graph::launch(Stream& stream) {
  use_device(stream.device());
  for (const auto& work : handle_->work) submit(stream, work);
}

DeviceList list_devices() {
  DeviceList list;
  list.runtime_version = list.driver_version = 13000;
  for (int index = 0; index < devices; ++index) {
    Device device;
    device.index = index;
    device.name = "emulated";
    device.memory_bytes = static_cast<std::int64_t>(memory_bytes.load());
    device.compute_major = 9;
    device.multiprocessors = 1;
    list.devices.push_back(device);
  }
  return list;
}

}  // namespace starpo::cuda
