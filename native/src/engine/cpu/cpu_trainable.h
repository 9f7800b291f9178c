#pragma once

#include <functional>
#include <vector>

#include "engine/cpu/adamw.h"
#include "engine/trainable.h"

namespace starpo {

// A flat buffer of weights in memory with its gradients and AdamW. Gradients and moments are there once something is learned.
class CpuTrainable final : public Trainable {
 public:
  // weights: their owner's, read anew by `changed` after each write. decayed: one flag a weight.
  CpuTrainable(std::span<float> weights, std::vector<std::uint8_t> decayed, ThreadPool&, std::function<void()> changed);

  std::size_t size() const override { return weights_.size(); }
  void read(StateVector, std::span<float>) const override;
  void write(StateVector, std::span<const float>) override;
  void clear_gradients() override;
  OptimizerStep step(const AdamWSettings&) override;

  std::span<float> gradients() { return gradients_; }  // passes add to them; empty before the first clear_gradients()

 private:
  std::span<float> weights_;
  std::vector<std::uint8_t> decayed_;
  ThreadPool& threads_;
  std::function<void()> changed_;
  std::vector<float> gradients_;
  AdamW optimizer_;
};

}  // namespace starpo
