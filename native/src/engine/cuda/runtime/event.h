#pragma once

#include "engine/cuda/runtime/stream.h"

struct CUevent_st;

namespace starpo::cuda {

// A point in a stream's work.
class Event {
 public:
  Event();
  ~Event();
  Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  void record(Stream& stream);
  // Returns whether the device has reached the recorded point.
  bool ready() const;
  // Blocks the host until the device has reached the point.
  void synchronize() const;
  // Makes later work of the stream wait for the point.
  void wait(Stream& stream) const;
  // Both events must be ready.
  float milliseconds_since(const Event& earlier) const;

 private:
  CUevent_st* handle_ = nullptr;
};

}  // namespace starpo::cuda
