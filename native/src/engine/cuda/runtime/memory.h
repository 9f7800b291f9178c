#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "engine/cuda/runtime/stream.h"

namespace starpo::cuda {

struct DeviceMemory {
  std::size_t free_bytes, total_bytes;
};
DeviceMemory device_memory();  // of the calling thread's device

// Aligned to 256 bytes. Throw Error gpu_out_of_memory, or out_of_memory for pinned memory.
void* allocate_on_device(std::size_t bytes);
void release_on_device(void* memory) noexcept;
void* allocate_pinned(std::size_t bytes);
void release_pinned(void* memory) noexcept;

// In the stream's order. From ordinary memory, copy_to_device returns when the source may change; from pinned memory it
// returns at once, as copy_to_host does, and only waiting for the stream makes the host's side safe to touch.
void copy_to_device(Stream& stream, void* device, const void* host, std::size_t bytes);
void copy_to_host(Stream& stream, void* host, const void* device, std::size_t bytes);
void copy_on_device(Stream& stream, void* to, const void* from, std::size_t bytes);
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

// Owns memory that a pair of functions takes and gives back; what it holds is uninitialised.
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

// Device memory: only kernels and copies may touch what data() points to.
template <class T>
class DeviceBuffer : public Buffer<T, allocate_on_device, release_on_device> {
 public:
  using Buffer<T, allocate_on_device, release_on_device>::Buffer;
  DeviceBuffer(Stream& stream, std::span<const T> host) : DeviceBuffer(host.size()) { upload(stream, host); }

  // From the buffer's first element on; never more than it holds.
  void upload(Stream& stream, std::span<const T> host) {
    cuda::upload(stream, this->data(), host.first(limited(host.size())));
  }
  void download(Stream& stream, std::span<T> host) const {
    cuda::download(stream, this->data(), host.first(limited(host.size())));
  }
  void fill_zero(Stream& stream) { fill_bytes(stream, this->data(), 0, this->size_bytes()); }
  // NaN in every floating point type, -1 in integers: what tests put where a kernel must write.
  void fill_poison(Stream& stream) { fill_bytes(stream, this->data(), 0xff, this->size_bytes()); }

 private:
  std::size_t limited(std::size_t count) const;
};

// Host memory that the device copies to and from on its own.
template <class T>
class PinnedBuffer : public Buffer<T, allocate_pinned, release_pinned> {
 public:
  using Buffer<T, allocate_pinned, release_pinned>::Buffer;
  T& operator[](std::size_t index) { return this->data()[index]; }
  const T& operator[](std::size_t index) const { return this->data()[index]; }
  std::span<T> span() { return {this->data(), this->size()}; }
};

[[noreturn]] void throw_beyond_buffer(std::size_t wanted, std::size_t size);

template <class T>
std::size_t DeviceBuffer<T>::limited(std::size_t count) const {
  if (count > this->size()) throw_beyond_buffer(count, this->size());
  return count;
}

}  // namespace starpo::cuda
