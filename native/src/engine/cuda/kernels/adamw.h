#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/runtime/stream.h"
#include "engine/trainable.h"

// The AdamW step on a flat buffer, with the formula of engine/cpu/kernels/optimizer_kernels.h. Buffers are device
// memory, aligned to 16 bytes.
namespace starpo::cuda {

// Results of a step, in device memory.
struct StepReport {
  double squared_norm;     // of the gradient, before clipping
  int non_finite_weights;  // 1: a weight is not finite after the step
};

// Writes the sum of the squared gradients to the report and resets non_finite_weights to 0. partials: scratch for
// kNormPartials doubles.
constexpr int kNormPartials = 1024;
void squared_norm(Stream&, std::size_t size, const float* gradients, double* partials, StepReport* report);

// Buffers of a step. Each has `size` elements, except decayed.
struct AdamWBuffers {
  float* weights;
  float* first_moment;
  float* second_moment;
  const float* gradients;
  Bf16* rounded;                // receives the new weights in bf16; may be null
  const std::uint8_t* decayed;  // [ceil(size / 8)] 1: weight decay applies to this group of eight weights
};

// Takes a step with the gradients times gradient_scale. steps: the number of this step, from 1. Ignores
// settings.gradient_clip.
void adamw(Stream&, std::size_t size, const AdamWBuffers&, const AdamWSettings& settings, float gradient_scale,
           std::int64_t steps, StepReport* report);

// Reduces one weight decay flag per weight to one per group of eight. Throws std::invalid_argument if flags differ
// within a group.
std::vector<std::uint8_t> group_decay_flags(std::span<const std::uint8_t> decayed);

}  // namespace starpo::cuda
