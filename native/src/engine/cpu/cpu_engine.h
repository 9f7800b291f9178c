#pragma once

#include "engine/engine.h"
#include "model/precision.h"

namespace starpo {

class CpuEngine final : public Engine {
 public:
  CpuEngine(ThreadPool& threads, Precision precision) : threads_(threads), precision_(precision) {}

  std::string device() const override { return "cpu"; }
  std::string device_name() const override;
  std::string instructions() const override;
  int suitable_pass_tokens(const EngineNeeds&) const override { return 4096; }  // whose activations of a small model fit the caches
  std::optional<MemoryPlan> reserve(const EngineNeeds&) override { return std::nullopt; }
  std::unique_ptr<Network> make_network(const ModelConfig&, ModelHead, NetworkUse) override;

 private:
  ThreadPool& threads_;
  Precision precision_;
};

}  // namespace starpo
