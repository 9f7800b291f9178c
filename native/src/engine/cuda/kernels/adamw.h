#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/runtime/stream.h"
#include "engine/trainable.h"

// The optimiser step over one flat buffer, as engine/cpu/cpu_trainable.h has it. Buffers: device memory, aligned to 16
// bytes.
namespace starpo::cuda {

// What a step has found, in device memory.
struct StepReport {
  double squared_norm;     // of the gradient, before clipping
  int non_finite_weights;  // 1: a weight is not finite after the step
};

// The sum of the gradient's squares; non_finite_weights becomes 0. partials: scratch of kNormPartials doubles.
constexpr int kNormPartials = 1024;
void squared_norm(Stream&, std::size_t size, const float* gradients, double* partials, StepReport* report);

// What a step works on; all [size].
struct AdamWBuffers {
  float* weights;
  float* first_moment;
  float* second_moment;
  const float* gradients;
  Bf16* rounded;                // the new weights, rounded; null: none are kept
  const std::uint8_t* decayed;  // [ceil(size / 8)] weight decay applies to eight weights, or to none of them
};

// One step with the gradients times gradient_scale; `steps`: the step's number, from 1. settings.gradient_clip isn't
// read.
void adamw(Stream&, std::size_t size, const AdamWBuffers&, const AdamWSettings& settings, float gradient_scale,
           std::int64_t steps, StepReport* report);

// One flag for eight weights from one a weight. Throws std::invalid_argument where the eight differ.
std::vector<std::uint8_t> decay_by_eights(std::span<const std::uint8_t> decayed);

}  // namespace starpo::cuda
