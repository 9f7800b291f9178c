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
  bool ready() const;                                    // whether the device has reached the recorded point
  void synchronize() const;                              // the host waits for it
  void hold(Stream& stream) const;                       // makes later work of the stream wait for it
  float milliseconds_since(const Event& earlier) const;  // both events must be ready

 private:
  CUevent_st* handle_ = nullptr;
};

}  // namespace starpo::cuda
