#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/parameters.h"

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

// Weights that learn, on some device: fp32 masters in a flat vector, the gradients that are added up for them, and
// AdamW's moments. An AdamW step (arXiv 1711.05101) comes in three, so that several replicas can take one together:
// squared_norm() of each one's gradients, reduced_norm() of them all, and apply() in each.
class Trainable {
 public:
  virtual ~Trainable() = default;

  // What is trained, by name, in the order of the flat vector; a tensor's offset and size are its range there.
  virtual const std::vector<TensorSlot>& tensors() const = 0;
  std::size_t size() const { return tensors().empty() ? 0 : tensors().back().offset + tensors().back().size; }

  // Numbers [first, first + the span's size) of a state vector.
  virtual void read(StateVector, std::size_t first, std::span<float>) const = 0;
  virtual void write(StateVector, std::size_t first, std::span<const float>) = 0;

  virtual void clear_gradients() = 0;
  // Sum of the squares of the gradients added since clear_gradients().
  virtual double squared_norm() = 0;
  // One AdamW step with the gradients times `gradient_scale`. Returns whether all weights are finite after it.
  // settings.gradient_clip isn't read.
  virtual bool apply(const AdamWSettings&, float gradient_scale) = 0;

  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 protected:
  std::int64_t steps_ = 0;  // taken so far; AdamW's bias correction needs it
};

// Whole state vectors: [size].
std::vector<float> read_state(const Trainable&, StateVector);
void write_state(Trainable&, StateVector, std::span<const float>);

// The global norm of the gradients, from the squared norms of their parts in the order of the replicas that hold them.
float reduced_norm(std::span<const double> squared_norms);

// What gradients of this norm are multiplied by so that none is larger than gradient_clip; 0 = no limit.
float clip_scale(float norm, float gradient_clip);

struct OptimizerStep {
  float gradient_norm;  // before clipping; not finite: the step changed nothing
  bool finite_weights;  // after the step
};

// A whole step of weights that no replica shares.
OptimizerStep take_step(Trainable&, const AdamWSettings&);

}  // namespace starpo
