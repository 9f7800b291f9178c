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

// Amount of work per measurement. The defaults are for a GPU.
struct TimingEffort {
  int repeats = 11;
  int calls = 8;                                       // minimum number of calls per kernel and repeat
  std::size_t rotated_bytes = std::size_t{128} << 20;  // size of an operand's copies, larger than the cache
  std::size_t ceiling_bytes = std::size_t{1} << 30;    // bytes read to measure the bandwidth
  int ceiling_steps = 20000;                           // tensor core products to measure
};

// The highest rates that a GPU reaches.
struct Ceilings {
  double bytes_per_second, operations_per_second;
};

struct KernelTime {
  std::string kernel;
  int rows;
  double microseconds;
  double bytes;       // bytes that the kernel must read and write
  double operations;  // on tensor cores, two per multiply-add
  // Only for matrix products:
  int n = 0, k = 0;
  std::string plan = {};  // "row split 4", or "cublaslt"
  bool chosen = false;    // whether plan_gemm chooses the plan
};

struct KernelTimes {
  std::string device_name;
  int multiprocessors;
  std::string library;  // library of the plan "cublaslt", or empty
  Ceilings ceilings;
  std::vector<KernelTime> times;

  // Returns the time that a kernel would take at the nearer ceiling, as a share of its time.
  double share_of_ceiling(const KernelTime&) const;
};

// Measures the ceilings, then each kernel of a decode step in bf16, and each plan of its products. Errors:
// device_unavailable, gpu_out_of_memory, gpu_failed.
KernelTimes time_kernels(int device, const TimedSteps&, const TimingEffort& = {});

}  // namespace starpo::cuda
