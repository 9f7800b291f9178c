#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace starpo {

struct TensorSlot;

// The state of trainable weights. A checkpoint stores all three.
enum class StateVector { weights, first_moment, second_moment };

struct AdamWSettings {
  float learning_rate;
  float beta1;
  float beta2;
  float epsilon;
  float weight_decay;
  float gradient_clip;  // maximum global norm; 0 disables clipping
};

// Trainable weights on a device: fp32 master weights in a flat vector, accumulated gradients and AdamW moments. An
// AdamW step (arXiv 1711.05101) has three parts, so that replicas can step together: squared_norm() on each replica,
// reduced_norm() over all, then apply() on each.
class Trainable {
 public:
  virtual ~Trainable() = default;

  // The trained tensors in the order of the flat vector. Offsets and sizes refer to that vector.
  virtual const std::vector<TensorSlot>& tensors() const = 0;
  std::size_t size() const;

  // Read or write the elements [first, first + span size) of a state vector.
  virtual void read(StateVector, std::size_t first, std::span<float>) const = 0;
  virtual void write(StateVector, std::size_t first, std::span<const float>) = 0;

  virtual void clear_gradients() = 0;
  // Returns the sum of squares of the gradients since clear_gradients().
  virtual double squared_norm() = 0;
  // Takes an AdamW step with the gradients times `gradient_scale`. Returns whether all weights are finite afterwards.
  // Ignores settings.gradient_clip.
  virtual bool apply(const AdamWSettings&, float gradient_scale) = 0;

  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 protected:
  std::int64_t steps_ = 0;  // steps taken, for AdamW's bias correction
};

// Reads or writes a whole state vector: [size].
std::vector<float> read_state(const Trainable&, StateVector);
void write_state(Trainable&, StateVector, std::span<const float>);

// Returns the global gradient norm from the squared norms of the replicas, in order.
float reduced_norm(std::span<const double> squared_norms);

// Returns the factor that limits gradients of this norm to gradient_clip. gradient_clip 0 disables clipping.
float clip_scale(float norm, float gradient_clip);

struct OptimizerStep {
  float gradient_norm;  // before clipping; if not finite, no step was taken
  bool finite_weights;  // after the step
};

// Returns AdamW's bias correction 1 / (1 - beta^steps).
float bias_correction(double beta, std::int64_t steps);

// Takes a whole step on a single replica.
OptimizerStep take_step(Trainable&, const AdamWSettings&);

}  // namespace starpo
