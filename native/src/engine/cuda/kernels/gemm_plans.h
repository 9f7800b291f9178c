#pragma once

#include <span>

#include "engine/cuda/kernels/gemm.h"

namespace starpo::cuda {

// The fastest plan of a product as measured on a GPU.
struct MeasuredPlan {
  int multiprocessors;
  GemmLayout layout;
  int n, k;
  bool exact;  // without split
  int rows;    // m
  GemmPlan plan;
};

// Measured plans. Products without one use the plan with the shortest time that GemmCosts estimates.
std::span<const MeasuredPlan> measured_plans();

// Estimates for an H100, good enough to rank plans.
struct GemmCosts {
  double bytes_per_nanosecond = 45;      // bandwidth of the L2 cache, which all multiprocessors share
  double nanoseconds_per_step = 150;     // latency of a barrier, loads from shared memory and dependent products
  double split_overhead = 2000;          // nanoseconds for the second kernel
  double partials_per_nanosecond = 500;  // floats that the whole GPU writes and reads back
  int resident_blocks = 2;               // per multiprocessor, to hide latency

  // Returns multiply-adds per nanosecond and multiprocessor. The narrower a warp's tile, the more its products wait for
  // shared memory.
  double products_per_nanosecond(GemmTile tile) const;
};

// Returns the measured plan for the fewest rows that are at least m, or nothing if the table has none or if its split
// exceeds max_split.
const MeasuredPlan* find_plan(std::span<const MeasuredPlan> table, GemmLayout layout, int m, int n, int k, bool exact,
                              int max_split, int multiprocessors);

}  // namespace starpo::cuda
