#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "engine/trainable.h"

namespace starpo {

// Sum of squares: blocks in float lanes, the blocks' sums in double and in order, so that threads and instruction sets
// change no bit.
double sum_of_squares(std::span<const float>, ThreadPool&);

// AdamW (Loshchilov & Hutter, arXiv 1711.05101, algorithm 2) over one flat buffer. Weight decay skips tensors of one
// dimension (norms, biases): `decayed` holds one flag a weight.
class AdamW {
 public:
  explicit AdamW(std::size_t size);

  // One step with the gradients times gradient_scale.
  void step(std::span<float> weights, std::span<const float> gradients, std::span<const std::uint8_t> decayed,
            const AdamWSettings&, float gradient_scale, ThreadPool&);

  std::int64_t steps = 0;
  std::vector<float> first_moment;
  std::vector<float> second_moment;
};

// A flat buffer of weights in memory with its gradients and AdamW. Gradients and moments are there once something is
// learned.
class CpuTrainable final : public Trainable {
 public:
  // weights: their owner's, read anew by `changed(first, count)` after each write to a range of them.
  CpuTrainable(std::vector<TensorSlot> tensors, std::span<float> weights, ThreadPool&,
               std::function<void(std::size_t first, std::size_t count)> changed);

  const std::vector<TensorSlot>& tensors() const override { return tensors_; }
  void read(StateVector, std::size_t first, std::span<float>) const override;
  void write(StateVector, std::size_t first, std::span<const float>) override;
  void clear_gradients() override;
  double squared_norm() override;
  bool apply(const AdamWSettings&, float gradient_scale) override;

  std::span<float> gradients() { return gradients_; }  // passes add to them; empty before the first clear_gradients()

  // Of that many weights' gradients, moments and flags.
  static std::int64_t bytes(std::size_t size);

 private:
  void check_range(std::size_t first, std::size_t count) const;

  std::vector<TensorSlot> tensors_;
  std::span<float> weights_;
  std::vector<std::uint8_t> decayed_;  // one flag a weight
  ThreadPool& threads_;
  std::function<void(std::size_t, std::size_t)> changed_;
  std::vector<float> gradients_;
  AdamW optimizer_;
};

}  // namespace starpo
