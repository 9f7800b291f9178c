#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/kernels/adamw.h"
#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/engine.h"

namespace starpo::cuda {

// The weights of a network on a device: fp32 master weights, a copy in T for matrix products (the master weights
// themselves if T is float), and the training state. With NetworkUse::read and bf16, only norms and biases have master
// weights. T: Bf16 or float.
template <class T>
class DeviceWeights final : public Trainable {
 public:
  DeviceWeights(Stream&, const ModelConfig&, ModelHead, NetworkUse);

  const ParameterLayout& layout() const { return layout_; }
  const ModelOffsets& offsets() const { return offsets_; }
  const Widths& width() const { return width_; }

  // Return weights and gradients at an offset of the layout. master() must exist: see above.
  const float* master(std::size_t offset) const;
  const T* matrix(std::size_t offset) const;
  float* gradient(std::size_t offset) { return gradients_.data() + offset; }

  void write_weights(std::size_t first, std::span<const float>);

  const std::vector<TensorSlot>& tensors() const override { return layout_.tensors(); }
  void read(StateVector, std::size_t first, std::span<float>) const override;
  void write(StateVector, std::size_t first, std::span<const float>) override;
  void clear_gradients() override;
  double squared_norm() override;
  bool apply(const AdamWSettings&, float gradient_scale) override;

  // Returns the device memory that an instance uses.
  static std::size_t bytes(const ParameterLayout&, NetworkUse);

 private:
  // The master weights of [first, first + size) in the layout are at `position` of masters_.
  struct MasterRange {
    std::size_t first, size, position;
  };
  static std::vector<MasterRange> master_ranges(const ParameterLayout&, NetworkUse);
  static auto& buffer(auto& self, StateVector);
  StepReport report() const;

  Stream& stream_;
  ParameterLayout layout_;
  ModelOffsets offsets_;
  Widths width_;
  std::vector<MasterRange> master_ranges_;
  DeviceBuffer<float> masters_, gradients_, first_moment_, second_moment_;
  DeviceBuffer<T> matrices_;  // empty if T is float
  DeviceBuffer<std::uint8_t> decayed_;
  DeviceBuffer<double> norm_partials_;
  DeviceBuffer<StepReport> report_;
};

extern template class DeviceWeights<Bf16>;
extern template class DeviceWeights<float>;

}  // namespace starpo::cuda
