#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "engine/cuda/runtime/event.h"
#include "engine/cuda/runtime/graph.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/cuda/selftest/arrays.h"

namespace starpo::cuda {

// Measures the time of a kernel as it runs in a decode step: from a graph, on operands that are not in the cache.
class KernelTimer {
 public:
  KernelTimer(Stream& stream, int repeats) : stream_(stream), repeats_(repeats) {}

  // Returns the microseconds per call of run(0) to run(calls - 1), the median over repeats. `run` enqueues a kernel on
  // operands that differ per call.
  double microseconds(int calls, const std::function<void(int call)>& run) {
    run(0);  // loads the kernel, which fails during capture
    Graph graph(stream_, [&] {
      for (int call = 0; call < calls; ++call) run(call);
    });
    graph.launch(stream_);
    std::vector<double> times;
    Event start(stream_), end(stream_);
    for (int repeat = 0; repeat < repeats_; ++repeat) {
      start.record(stream_);
      graph.launch(stream_);
      end.record(stream_);
      times.push_back(end.milliseconds_since(start) * 1000 / calls);
    }
    std::ranges::sort(times);
    return times[times.size() / 2];
  }

 private:
  Stream& stream_;
  int repeats_;
};

// Copies of an operand, together larger than the cache of the GPU.
template <class T>
class RotatedOperand {
 public:
  // size: elements of a copy, rounded up to 128. Values are random, because products of zeros take less power.
  RotatedOperand(Stream& stream, std::size_t size, std::size_t rotated_bytes)
      : size_((size + 127) / 128 * 128),
        copies_(static_cast<int>(std::clamp<std::size_t>(rotated_bytes / (size_ * sizeof(T)), 1, kMaxCopies))),
        values_(stream, size_ * static_cast<std::size_t>(copies_)) {
    const std::vector<T> block = random_numbers<T>(std::min<std::size_t>(values_.size(), 1 << 20), 1);
    for (std::size_t first = 0; first < values_.size(); first += block.size())
      upload(stream, values_.data() + first, std::span(block).first(std::min(block.size(), values_.size() - first)));
  }

  T* copy(int call) { return values_.data() + static_cast<std::size_t>(call % copies_) * size_; }
  int copies() const { return copies_; }

 private:
  static constexpr std::size_t kMaxCopies = 32;
  std::size_t size_;
  int copies_;
  DeviceBuffer<T> values_;
};

}  // namespace starpo::cuda
