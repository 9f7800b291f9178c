#pragma once

#include <utility>

struct CUstream_st;

namespace starpo::cuda {

// Makes a device the one that the calling thread allocates and launches on. Throws Error device_unavailable.
void use_device(int index);

// Work in order on one device. Everything given to a stream runs after what was given before; the host goes on at once.
// Errors of the device, also late ones, are thrown by the next call: gpu_out_of_memory, device_unavailable or
// gpu_failed.
class Stream {
 public:
  explicit Stream(int device = 0);  // also use_device
  ~Stream();
  Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), device_(other.device_) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(device_, other.device_);
    return *this;
  }

  void synchronize();  // returns when everything given so far is done
  int device() const { return device_; }
  CUstream_st* handle() const { return handle_; }

 private:
  CUstream_st* handle_ = nullptr;
  int device_;
};

}  // namespace starpo::cuda
