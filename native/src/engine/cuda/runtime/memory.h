#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "engine/cuda/runtime/stream.h"

namespace starpo::cuda {

struct DeviceMemory {
  std::size_t free_bytes, total_bytes;
};
DeviceMemory device_memory(int device);

// Allocate or free memory, aligned to 256 bytes. Device memory is allocated on the thread's current device. Errors:
// gpu_out_of_memory and gpu_failed, or std::bad_alloc for pinned memory.
void* allocate_on_device(std::size_t bytes);
void release_on_device(void* memory) noexcept;
void* allocate_pinned(std::size_t bytes);
void release_pinned(void* memory) noexcept;

// Copy or fill in stream order. copy_to_device from pageable memory returns when the source may change. From pinned
// memory it returns immediately, as copy_to_host may: synchronize the stream before accessing host memory.
void copy_to_device(Stream& stream, void* device, const void* host, std::size_t bytes);
void copy_to_host(Stream& stream, void* host, const void* device, std::size_t bytes);
void fill_bytes(Stream& stream, void* device, unsigned char value, std::size_t bytes);

template <class T>
void upload(Stream& stream, T* device, std::span<const std::type_identity_t<T>> host) {
  copy_to_device(stream, device, host.data(), host.size_bytes());
}

// Waits for the stream.
template <class T>
void download(Stream& stream, const T* device, std::span<std::type_identity_t<T>> host) {
  copy_to_host(stream, host.data(), device, host.size_bytes());
  stream.synchronize();
}

// Owns uninitialized memory that a pair of functions allocates and frees.
template <class T, void* (*allocate)(std::size_t), void (*release)(void*) noexcept>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size)
      : data_(size == 0 ? nullptr : static_cast<T*>(allocate(size * sizeof(T)))), size_(size) {}
  ~Buffer() {
    if (data_) release(data_);
  }
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t size_bytes() const { return size_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Device memory: only kernels and copies may access data().
template <class T>
class DeviceBuffer : public Buffer<T, allocate_on_device, release_on_device> {
 public:
  DeviceBuffer() = default;
  // Allocates on the stream's device.
  DeviceBuffer(Stream& stream, std::size_t size)
      : Buffer<T, allocate_on_device, release_on_device>((use_device(stream.device()), size)) {}
  DeviceBuffer(Stream& stream, std::span<const T> host) : DeviceBuffer(stream, host.size()) { upload(stream, host); }

  // Copies start at the first element and must fit the buffer.
  void upload(Stream& stream, std::span<const T> host) {
    cuda::upload(stream, this->data(), host.first(checked_count(host.size())));
  }
  void download(Stream& stream, std::span<T> host) const {
    cuda::download(stream, this->data(), host.first(checked_count(host.size())));
  }
  void fill_zero(Stream& stream) { fill_bytes(stream, this->data(), 0, this->size_bytes()); }
  // Fills with NaN (floating point) or -1 (integers), for tests of a kernel's output.
  void fill_poison(Stream& stream) { fill_bytes(stream, this->data(), 0xff, this->size_bytes()); }

 private:
  std::size_t checked_count(std::size_t count) const {
    if (count > this->size())
      throw std::out_of_range("a copy of " + std::to_string(count) + " elements into or out of a device buffer of " +
                              std::to_string(this->size()));
    return count;
  }
};

// Page-locked host memory for asynchronous copies.
template <class T>
class PinnedBuffer : public Buffer<T, allocate_pinned, release_pinned> {
 public:
  using Buffer<T, allocate_pinned, release_pinned>::Buffer;
  T& operator[](std::size_t index) { return this->data()[index]; }
  const T& operator[](std::size_t index) const { return this->data()[index]; }
  std::span<T> span() { return {this->data(), this->size()}; }
};

}  // namespace starpo::cuda
