#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/engine/arena.h"
#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/packed_batch.h"

namespace starpo::cuda {

// A micro-batch as the kernels read it. Room is taken once, for the largest.
class DeviceBatch {
 public:
  DeviceBatch(Arena&, int tokens);

  // Errors: std::invalid_argument for a batch that is no batch, std::out_of_range for a token outside the vocabulary.
  void upload(Stream&, const PackedBatch&, int vocab);

  int tokens = 0, targets = 0, unique = 0;
  PackedSequences sequences{};
  std::vector<int> target_counts;  // [sequences], on the host
  std::int32_t* ids;            // [tokens]
  std::int32_t* positions;      // [tokens]
  std::int32_t* target_rows;    // [targets] the rows that predict them
  std::int32_t* target_ids;     // [targets]
  std::int32_t* order_ids;      // a TokenOrder's (cuda/kernels/embedding.h)
  std::int32_t* order_starts;
  std::int32_t* order_rows;

 private:
  std::int32_t* starts_;
  int capacity_;
};

}  // namespace starpo::cuda
