#pragma once

#include <optional>

#include "engine/cpu/cpu_trainable.h"
#include "engine/cpu/model.h"
#include "engine/engine.h"

namespace starpo {

// A network on the processor: CpuModel, CpuDecoder and CpuTrainingPass, exact to the bit on every instruction set in
// fp32.
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

class CpuEngine final : public Engine {
 public:
  CpuEngine(ThreadPool& threads, Precision precision) : threads_(threads), precision_(precision) {}

  std::string device() const override { return "cpu"; }
  std::string device_name() const override;
  std::string instructions() const override;
  int suitable_pass_tokens(const EngineNeeds&) const override;
  MemoryPlan reserve(const EngineNeeds&) override;
  bool takes_memory_ahead() const override { return false; }
  std::unique_ptr<Network> make_network(const ModelConfig&, ModelHead, NetworkUse) override;

 private:
  ThreadPool& threads_;
  Precision precision_;
};

// What every part of a run takes at most on a processor. All of it is kept to the run's end. The machine's bytes are
// left to the caller.
MemoryPlan plan_cpu_memory(const EngineNeeds&, Precision);

}  // namespace starpo
