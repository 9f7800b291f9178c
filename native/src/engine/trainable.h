#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace starpo {

// What a trainable vector of weights carries through its life; a checkpoint holds all three.
enum class StateVector { weights, first_moment, second_moment };

struct AdamWSettings {
  float learning_rate;
  float beta1;
  float beta2;
  float epsilon;
  float weight_decay;
  float gradient_clip;  // largest allowed global norm; 0 = none
};

struct OptimizerStep {
  double gradient_norm;  // before clipping; not finite: the step changed nothing
  bool finite_weights;   // after the step
};

// Weights that learn, on some device: fp32 masters in a flat order, the gradients that are added up for them, and AdamW's moments.
class Trainable {
 public:
  virtual ~Trainable() = default;

  virtual std::size_t size() const = 0;
  virtual void read(StateVector, std::span<float>) const = 0;  // [size]
  virtual void write(StateVector, std::span<const float>) = 0;

  virtual void clear_gradients() = 0;
  // One AdamW step (arXiv 1711.05101) with the gradients added since clear_gradients(), clipped by their global norm.
  virtual OptimizerStep step(const AdamWSettings&) = 0;

  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 protected:
  std::int64_t steps_ = 0;  // taken so far; AdamW's bias correction needs it
};

}  // namespace starpo
