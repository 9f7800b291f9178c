#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/config.h"

namespace starpo::cuda {

// The decode steps to measure.
struct TimedSteps {
  ModelConfig model;
  std::vector<int> rows;  // sequences per step
  int keys;               // cached tokens per sequence
};

// How long to measure. The defaults are for a GPU.
struct TimingEffort {
  int repeats = 11;
  int calls = 8;                                       // of a kernel per repeat, at least
  std::size_t rotated_bytes = std::size_t{128} << 20;  // of an operand's copies, more than the cache
  std::size_t ceiling_bytes = std::size_t{1} << 30;    // read to measure the bandwidth
  int ceiling_steps = 20000;                           // of tensor core products
};

// What a GPU reaches at most.
struct Ceilings {
  double bytes_per_second, operations_per_second;
};

struct KernelTime {
  std::string kernel;
  int rows;
  double microseconds;
  double bytes;       // that the kernel must read and write
  double operations;  // on tensor cores, two per multiply-add
  // Of a matrix product only:
  int n = 0, k = 0;
  std::string plan = {};  // "row split 4", or "cublaslt"
  bool chosen = false;    // by plan_gemm
};

struct KernelTimes {
  std::string device_name;
  int multiprocessors;
  std::string library;  // that computed the products with the plan "cublaslt"; empty without one
  Ceilings ceilings;
  std::vector<KernelTime> times;

  // Returns the time that a kernel would take at the nearer ceiling, as a share of its time.
  double share_of_ceiling(const KernelTime&) const;
};

// Measures the ceilings, then each kernel of a decode step in bf16, and each plan of its products. Errors:
// device_unavailable, gpu_out_of_memory, gpu_failed.
KernelTimes time_kernels(int device, const TimedSteps&, const TimingEffort& = {});

}  // namespace starpo::cuda
