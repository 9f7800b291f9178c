#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

namespace starpo {

// A page-aligned, zero-initialized buffer of floats, resident only where written. Uses huge pages where available,
// because a KV cache or an activation arena exceeds the TLB.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t floats) { reserve(floats); }
  ~AlignedBuffer() { release(); }
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  // Grows to at least this many floats. Growing discards the content.
  void reserve(std::size_t floats) {
    if (floats <= size_) return;
    release();
    void* const memory =
        mmap(nullptr, floats * sizeof(float), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, floats * sizeof(float), MADV_HUGEPAGE);
    data_ = static_cast<float*>(memory);
    size_ = floats;
  }

  float* data() { return data_; }
  const float* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void release() {
    if (data_ != nullptr) munmap(data_, size_ * sizeof(float));
    data_ = nullptr;
    size_ = 0;
  }

  float* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace starpo
