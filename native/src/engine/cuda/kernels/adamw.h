#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/runtime/stream.h"
#include "engine/cpu/adamw.h"

// The optimiser step over one flat buffer, as optimizer/adamw.h has it, without a round trip to the host. Buffers: device memory, aligned to 16 bytes.
namespace starpo::cuda {

// What a step has found, in device memory.
struct StepReport {
  float norm;               // of the gradient, before clipping
  float gradient_scale;     // by which clipping multiplies it
  int non_finite_weights;   // 1: a weight is not finite after the step
};

// The gradient's global norm and what clipping to gradient_clip (0: none) makes of it; non_finite_weights becomes 0. partials: scratch of kNormPartials doubles.
constexpr int kNormPartials = 1024;
void gradient_norm(Stream&, std::size_t size, const float* gradients, float gradient_clip, double* partials, StepReport* report);

// What a step works on; all [size].
struct AdamWBuffers {
  float* weights;
  float* first_moment;
  float* second_moment;
  const float* gradients;
  Bf16* rounded;                // the new weights, rounded; null: none are kept
  const std::uint8_t* decayed;  // [ceil(size / 8)] weight decay applies to eight weights, or to none of them
};

// One step; `steps`: the step's number, from 1. Reads the report of gradient_norm: where the norm isn't finite, nothing changes. settings.gradient_clip isn't read.
void adamw(Stream&, std::size_t size, const AdamWBuffers&, const AdamWSettings& settings, std::int64_t steps, StepReport* report);

// rounded[i] = weights[i] for all of them: when they were loaded.
void round_weights(Stream&, std::size_t size, const float* weights, Bf16* rounded);

// One flag for eight weights from one a weight. Throws std::invalid_argument where the eight differ.
std::vector<std::uint8_t> decay_by_eights(std::span<const std::uint8_t> decayed);

}  // namespace starpo::cuda
