#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/kernels/adamw.h"
#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/engine.h"
#include "engine/cpu/layer_offsets.h"

namespace starpo::cuda {

// A network's weights on the device: fp32 masters, the copy in T that products read (the masters themselves where T is float), and what learning needs.
// T: Bf16 or float.
template <class T>
class DeviceWeights final : public Trainable {
 public:
  DeviceWeights(Stream&, const ModelConfig&, ModelHead, NetworkUse);

  const ParameterLayout& layout() const { return layout_; }
  const ModelOffsets& offsets() const { return offsets_; }
  const Widths& width() const { return width_; }

  const float* master(std::size_t offset) const { return masters_.data() + offset; }  // of norms and biases
  const T* matrix(std::size_t offset) const;
  float* gradient(std::size_t offset) { return gradients_.data() + offset; }

  std::size_t size() const override { return layout_.size(); }
  void read(StateVector, std::span<float>) const override;
  void write(StateVector, std::span<const float>) override;
  void clear_gradients() override;
  OptimizerStep step(const AdamWSettings&) override;

  static std::size_t bytes(const ParameterLayout&, NetworkUse);

 private:
  static auto& buffer(auto& self, StateVector);

  Stream& stream_;
  ParameterLayout layout_;
  ModelOffsets offsets_;
  Widths width_;
  DeviceBuffer<float> masters_, gradients_, first_moment_, second_moment_;
  DeviceBuffer<T> matrices_;  // empty where T is float
  DeviceBuffer<std::uint8_t> decayed_;
  DeviceBuffer<double> norm_partials_;
  DeviceBuffer<StepReport> report_;
};

extern template class DeviceWeights<Bf16>;
extern template class DeviceWeights<float>;

}  // namespace starpo::cuda
