#pragma once

#include <cstdint>

#include "engine/cuda/kernels/sampler.h"
#include "engine/cuda/runtime/stream.h"

// What the rows of a decoding step are at, in device memory, so that steps follow each other without the host.
namespace starpo::cuda {

enum class RowState : std::int32_t {
  running = 0,
  stopped = 1,     // by a stop id
  exhausted = 2,   // its reply has the most tokens it may have
  not_finite = 3,  // its logits were not; nothing was chosen
};

// All [rows]; embedding, rotary embedding, cache and sampler read tokens and positions as they are.
struct DecodeRows {
  std::int32_t* tokens;     // the last token, which the next step feeds
  std::int32_t* positions;  // its position
  std::int32_t* remaining;  // how many tokens the reply may still get
  std::int32_t* states;     // RowState
  std::int32_t* logged;     // how many tokens the log holds
};

// What the rows chose since the host last emptied it: [rows][capacity], each row's in order.
struct DecodeLog {
  std::int32_t* ids;
  float* logprobs;
  float* entropies;
  int capacity;
};

// Running rows take their choice: it is logged and becomes the token of the next position. The others, and those whose
// log is full until the host empties it, stay as they are: their steps compute the same again.
void advance(Stream&, int rows, const Choices&, const DecodeRows&, const DecodeLog&);

}  // namespace starpo::cuda
