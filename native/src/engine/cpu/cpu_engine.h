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
  int suitable_pass_tokens(const EngineNeeds&) const override;
  MemoryPlan reserve(const EngineNeeds&) override;
  bool takes_memory_ahead() const override { return false; }
  std::unique_ptr<Network> make_network(const ModelConfig&, ModelHead, NetworkUse) override;

 private:
  ThreadPool& threads_;
  Precision precision_;
};

// What every part of a run takes at most on a processor. All of it is kept to the run's end. The machine's bytes are left to the caller.
MemoryPlan plan_cpu_memory(const EngineNeeds&, Precision);

}  // namespace starpo
