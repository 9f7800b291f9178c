#pragma once

#include "engine/cpu/cpu_trainable.h"
#include "engine/network.h"
#include "engine/cpu/model.h"

namespace starpo {

// A network of model/: Model, Decoder and TrainingPass, exact to the bit on every instruction set in fp32.
class CpuNetwork final : public Network {
 public:
  CpuNetwork(const ModelConfig&, ThreadPool&, Precision, ModelHead);

  const ParameterLayout& layout() const override { return model_.layout(); }
  Trainable& parameters() override { return parameters_; }
  std::unique_ptr<Generator> make_generator(int slots, int context) override;
  std::unique_ptr<NetworkPass> make_pass() override;

 private:
  Model model_;
  CpuTrainable parameters_;
};

}  // namespace starpo
