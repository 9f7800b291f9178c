#pragma once

#include "engine/cuda/engine/device_weights.h"
#include "engine/cuda/engine/layer.h"
#include "engine/cuda/kernels/rope.h"
#include "engine/cuda/runtime/devices.h"
#include "engine/engine.h"

namespace starpo::cuda {

// One GPU: a stream in whose order everything happens, and the memory that rollout and update take in turn. T: Bf16 or float.
template <class T>
class CudaEngine final : public Engine {
 public:
  CudaEngine(const Device&, Exactness);

  std::string device() const override { return "cuda:" + std::to_string(device_.index); }
  std::string device_name() const override { return device_.name; }
  std::string instructions() const override;
  int suitable_pass_tokens(const EngineNeeds&) const override;
  MemoryPlan reserve(const EngineNeeds&) override;
  bool takes_memory_ahead() const override { return true; }
  std::optional<std::string> warning() const override;
  std::optional<std::string> product_choice() const override { return matmul_->choice(); }
  std::optional<std::int64_t> memory_in_use() const override;
  std::unique_ptr<Network> make_network(const ModelConfig&, ModelHead, NetworkUse) override;

  // What its networks share.
  Stream& stream() { return stream_; }
  std::byte* arena() { return arena_.data(); }
  RotaryTables rotary() const { return {cosines_.data(), sines_.data()}; }
  Products<T> products() { return {stream_, *matmul_, exact()}; }
  bool exact() const { return exactness_ == Exactness::exact; }
  const EngineNeeds& needs() const { return needs_; }

 private:
  Device device_;
  Exactness exactness_;
  Stream stream_;
  EngineNeeds needs_;
  DeviceBuffer<std::byte> arena_;
  DeviceBuffer<float> workspace_, cosines_, sines_;
  std::unique_ptr<Matmul> matmul_;
};

extern template class CudaEngine<Bf16>;
extern template class CudaEngine<float>;

}  // namespace starpo::cuda
