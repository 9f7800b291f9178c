#pragma once

#include <cstdint>

#include "algorithm/objectives.h"
#include "engine/cuda/runtime/stream.h"

// What a chunk of logits gives: log-probabilities, entropies and, in place, the gradient of the loss. T: Bf16 or float;
// all math is fp32. All pointers are device memory.
namespace starpo::cuda {

// logits: [rows, vocab], rows `stride` elements apart; rows that begin at a multiple of 16 bytes are read fastest.
// temperature: they are divided by it.
template <class T>
struct Logits {
  T* data;
  int rows;
  int vocab;
  int stride;
  float temperature;
};

// Of targets [rows], and of the rows: logprobs, entropies [rows]. NaN where a row has NaN, +infinity or nothing finite.
template <class T>
void logprob_entropy(Stream&, const Logits<T>&, const std::int32_t* targets, float* logprobs, float* entropies);

// What the loss of each row is made of; all [rows].
struct PolicyLossRows {
  const std::int32_t* targets;
  const float* weights;
  const float* rollout_logprobs;
  const float* advantages;
  const float* reference_logprobs;  // null: no KL in the loss
};

// The policy loss of algorithm/objectives.h and, with reference_logprobs, its KL: writes logprobs and entropies [rows],
// from which the host has the loss itself, and replaces the logits by d(loss)/d(logits).
template <class T>
void policy_loss(Stream&, const Logits<T>&, const PolicyLossRows&, const PolicyLossConfig&, const KlConfig&,
                 float* logprobs, float* entropies);

// The same for loss = -weight * logprob: plain likelihood.
template <class T>
void likelihood_loss(Stream&, const Logits<T>&, const std::int32_t* targets, const float* weights, float* logprobs,
                     float* entropies);

}  // namespace starpo::cuda
