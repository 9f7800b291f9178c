#pragma once

#include <utility>

struct CUstream_st;

namespace starpo::cuda {

// Makes a GPU the calling thread's current device, on which CUDA allocates and launches. Every function that takes a
// stream calls it, so that several engines may share a thread. Errors: device_unavailable, gpu_failed.
void use_device(int index);

// Runs work in order on one device, asynchronously to the host. Later calls throw errors of earlier work:
// gpu_out_of_memory, device_unavailable or gpu_failed.
class Stream {
 public:
  explicit Stream(int device = 0);
  ~Stream();
  Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), device_(other.device_) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(device_, other.device_);
    return *this;
  }

  // Blocks the host until all enqueued work is done.
  void synchronize();
  int device() const { return device_; }
  CUstream_st* handle() const { return handle_; }

 private:
  CUstream_st* handle_ = nullptr;
  int device_;
};

}  // namespace starpo::cuda
