#pragma once

#include <optional>

#include "engine/cpu/cpu_trainable.h"
#include "engine/cpu/model.h"
#include "engine/engine.h"

namespace starpo {

// A network on the CPU: CpuModel, CpuDecoder and CpuTrainingPass. In fp32, results are bit-identical on every
// instruction set.
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
  std::optional<CpuTrainable> trained_;  // empty for NetworkUse::read
};

class CpuEngine final : public Engine {
 public:
  CpuEngine(ThreadPool& threads, Precision precision) : threads_(threads), precision_(precision) {}

  std::string device() const override { return "cpu"; }
  std::string device_name() const override;
  std::string instructions() const override;
  int default_pass_tokens(const EngineNeeds&) const override;
  MemoryPlan reserve(const EngineNeeds&) override;
  bool preallocates() const override { return false; }
  std::unique_ptr<Network> make_network(const ModelConfig&, ModelHead, NetworkUse) override;

 private:
  ThreadPool& threads_;
  Precision precision_;
};

// Returns the maximum memory of each part of a run on the CPU, all with lifetime `run`. The caller sets device,
// device_bytes and free_bytes.
MemoryPlan plan_cpu_memory(const EngineNeeds&, Precision);

}  // namespace starpo
