#pragma once

#include <functional>

#include "engine/cuda/runtime/stream.h"

struct CUgraphExec_st;

namespace starpo::cuda {

// A sequence of launches, copies and fills, recorded once and then given to a stream in one call. The arguments are the
// recorded ones: what changes from launch to launch lies in device memory.
class Graph {
 public:
  Graph() = default;
  // Calls `work`, which gives its work to this very stream and waits for nothing. None of it runs. Its kernels have run
  // before: a first launch loads a kernel, which not every driver does while it records.
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
