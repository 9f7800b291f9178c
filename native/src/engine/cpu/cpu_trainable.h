#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "engine/trainable.h"

namespace starpo {

// Returns the sum of squares. Sums each block in float lanes, then the blocks in double and in order, so that threads
// and instruction sets change no bit.
double sum_of_squares(std::span<const float>, ThreadPool&);

// AdamW (Loshchilov & Hutter, arXiv 1711.05101, algorithm 2) on a flat buffer. `decayed` has one flag per weight,
// because weight decay skips tensors with one dimension (norms and biases).
class AdamW {
 public:
  explicit AdamW(std::size_t size);

  // Takes one step with the gradients times gradient_scale.
  void step(std::span<float> weights, std::span<const float> gradients, std::span<const std::uint8_t> decayed,
            const AdamWSettings&, float gradient_scale, ThreadPool&);

  std::int64_t steps = 0;
  std::vector<float> first_moment;
  std::vector<float> second_moment;
};

// A flat buffer of weights in host memory with gradients and AdamW. Gradients and moments are allocated on first use.
class CpuTrainable final : public Trainable {
 public:
  // The weights must outlive this object. Calls changed(first, count) after each write to a range.
  CpuTrainable(std::vector<TensorSlot> tensors, std::span<float> weights, ThreadPool&,
               std::function<void(std::size_t first, std::size_t count)> changed);

  const std::vector<TensorSlot>& tensors() const override { return tensors_; }
  void read(StateVector, std::size_t first, std::span<float>) const override;
  void write(StateVector, std::size_t first, std::span<const float>) override;
  void clear_gradients() override;
  double squared_norm() override;
  bool apply(const AdamWSettings&, float gradient_scale) override;

  // Passes add to the gradients. They are empty before the first clear_gradients().
  std::span<float> gradients() { return gradients_; }

  // Returns the bytes of gradients, moments and flags for `size` weights.
  static std::int64_t bytes(std::size_t size);

 private:
  void check_range(std::size_t first, std::size_t count) const;

  std::vector<TensorSlot> tensors_;
  std::span<float> weights_;
  std::vector<std::uint8_t> decayed_;
  ThreadPool& threads_;
  std::function<void(std::size_t, std::size_t)> changed_;
  std::vector<float> gradients_;
  AdamW optimizer_;
};

}  // namespace starpo
