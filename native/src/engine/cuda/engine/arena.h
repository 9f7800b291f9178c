#pragma once

#include <cstddef>

namespace starpo::cuda {

// Allocates tensors of the same lifetime from one block of memory. Without memory, it only counts bytes, so that the
// same code first plans and then allocates.
class Arena {
 public:
  Arena() = default;
  explicit Arena(std::byte* memory) : memory_(memory) {}

  // Returns memory aligned to 256 bytes, or null while counting.
  template <class T>
  T* allocate(std::size_t count) {
    T* const pointer = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + bytes_);
    constexpr std::size_t line = 256;
    bytes_ += (count * sizeof(T) + line - 1) / line * line;
    return pointer;
  }

  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace starpo::cuda
