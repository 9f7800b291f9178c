#pragma once

#include "engine/cuda/runtime/stream.h"

struct CUevent_st;

namespace starpo::cuda {

// A point in a stream's work, for measuring times.
class Event {
 public:
  explicit Event(Stream& stream);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(Stream& stream);
  // Waits until the stream has reached this point. Returns the milliseconds since an earlier point.
  double milliseconds_since(const Event& earlier) const;

 private:
  CUevent_st* handle_ = nullptr;
};

}  // namespace starpo::cuda
