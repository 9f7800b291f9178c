#pragma once

#include <cstdint>

#include "algorithm/objectives.h"
#include "engine/cuda/runtime/stream.h"

// Log-probabilities, entropies and the gradient of the loss for a chunk of logits. Sums over the vocabulary are fp32.
// All pointers are device memory.
namespace starpo::cuda {

// [rows, vocab], with rows `stride` elements apart. Rows aligned to 16 bytes are read fastest. Kernels divide the
// logits by `temperature`.
struct Logits {
  const float* data;
  int rows;
  int vocab;
  int stride;
  float temperature;
};

// Writes the log-probability of the target and the entropy of each row: [rows]. They are NaN if a row contains NaN or
// +infinity, or no finite logit.
void logprob_entropy(Stream&, const Logits&, const std::int32_t* targets, float* logprobs, float* entropies);

// Inputs of the loss: [rows].
struct PolicyLossRows {
  const std::int32_t* targets;
  const float* weights;
  const float* rollout_logprobs;
  const float* advantages;
  const float* reference_logprobs;  // null: no KL term in the loss
};

// Writes logprobs and entropies [rows], from which the host computes the loss, and gradient = d(loss)/d(logits), with
// the stride of the logits, rounded to T (Bf16 or float). The padding of its rows up to a multiple of 8 becomes 0. The
// loss is the policy loss of algorithm/objectives.h, plus its KL term if reference_logprobs isn't null.
template <class T>
void policy_loss(Stream&, const Logits&, const PolicyLossRows&, const PolicyLossConfig&, const KlConfig&,
                 float* logprobs, float* entropies, T* gradient);

// Gradients of a loss that the host computed: [rows].
struct LossGradientRows {
  const std::int32_t* targets;
  const float* from_logprob;  // d(loss)/d(logprob)
  const float* from_entropy;  // d(loss)/d(entropy)
};

// Does the same for a loss with given gradients.
template <class T>
void given_loss(Stream&, const Logits&, const LossGradientRows&, float* logprobs, float* entropies, T* gradient);

}  // namespace starpo::cuda
