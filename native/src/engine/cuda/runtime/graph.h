#pragma once

#include <functional>

#include "engine/cuda/runtime/stream.h"

struct CUgraphExec_st;

namespace starpo::cuda {

// A CUDA graph: launches, copies and fills, captured once and launched in one call. Arguments are fixed, so values that
// change between launches must be in device memory.
class Graph {
 public:
  Graph() = default;
  // Captures the work that `work` enqueues on this stream, without running it. `work` must not synchronize. Its kernels
  // must have run before, because some drivers can't load a kernel during capture.
  Graph(Stream& stream, const std::function<void()>& work);
  ~Graph();
  Graph(Graph&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  void launch(Stream& stream);
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  CUgraphExec_st* handle_ = nullptr;
};

}  // namespace starpo::cuda
