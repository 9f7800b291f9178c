#pragma once

#include <cstdint>

#include "engine/cuda/kernels/sampler.h"
#include "engine/cuda/runtime/stream.h"

// The state of the rows of a decoding step, in device memory, so that steps follow each other without the host.
namespace starpo::cuda {

enum class RowState : std::int32_t {
  running = 0,
  stopped = 1,     // it chose a stop id
  exhausted = 2,   // its response reached the maximum number of tokens
  not_finite = 3,  // its logits were not finite, so no token was chosen
};

// The state of all rows: [rows]. The embedding, rotary embedding, cache and sampler kernels read tokens and positions
// directly.
struct DecodeRows {
  std::int32_t* tokens;     // the last token, the input of the next step
  std::int32_t* positions;  // of the last token
  std::int32_t* remaining;  // number of tokens until the response is exhausted
  std::int32_t* states;     // RowState
  std::int32_t* logged;     // number of tokens in the log
  std::int32_t* slots;      // of the cache; -1 once the row isn't running, so that it reads and stores nothing there
};

// The choices of each row since the host last emptied the log, in order: [rows][capacity].
struct DecodeLog {
  std::int32_t* ids;
  float* logprobs;
  float* entropies;
  int capacity;
};

// Appends the choice of each running row to its log and makes it the row's last token. A row that ends releases its
// slot. Rows that aren't running, or whose log is full, don't change. One thread per row.
void advance(Stream&, int rows, const Choices&, const DecodeRows&, const DecodeLog&);

}  // namespace starpo::cuda
