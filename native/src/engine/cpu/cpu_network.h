#pragma once

#include <optional>

#include "engine/cpu/cpu_trainable.h"
#include "engine/cpu/model.h"
#include "engine/network.h"

namespace starpo {

// A network on the processor: CpuModel, CpuDecoder and CpuTrainingPass, exact to the bit on every instruction set in fp32.
class CpuNetwork final : public Network {
 public:
  CpuNetwork(const ModelConfig&, ThreadPool&, Precision, ModelHead, NetworkUse);

  const ParameterLayout& layout() const override { return model_.layout(); }
  void read_weights(std::size_t first, std::span<float>) const override;
  void write_weights(std::size_t first, std::span<const float>) override;
  Trainable& trained() override;
  std::unique_ptr<Generator> make_generator(int slots, int context) override;
  std::unique_ptr<NetworkPass> make_pass() override;

 private:
  CpuModel model_;
  std::optional<CpuTrainable> trained_;  // none where it is only read
};

}  // namespace starpo
