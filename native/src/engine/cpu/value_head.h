#pragma once

#include <vector>

#include "base/aligned_buffer.h"
#include "engine/cpu/cpu_trainable.h"
#include "engine/engine.h"

namespace starpo {

// A value head on the CPU. weights: [hidden + 1], with the bias last.
class CpuValueHead final : public ValueHead {
 public:
  CpuValueHead(int hidden, ThreadPool&);

  Trainable& trained() override { return trained_; }
  void forward(std::span<const float> features, std::span<float> values) override;
  void backward(std::span<const float> value_gradients) override;

 private:
  void pack();

  int hidden_;
  std::vector<float> weights_;
  std::vector<float> features_;  // of the last forward
  AlignedBuffer packed_;
  CpuTrainable trained_;
};

}  // namespace starpo
