#include "engine/cpu/cpu_engine.h"

#include "base/processor.h"
#include "engine/cpu/cpu_network.h"
#include "engine/cpu/instructions.h"

namespace starpo {

std::string CpuEngine::device_name() const { return describe_processor().name; }

std::string CpuEngine::instructions() const { return instructions_name(precision_); }

std::unique_ptr<Network> CpuEngine::make_network(const ModelConfig& config, ModelHead head, NetworkUse) {
  return std::make_unique<CpuNetwork>(config, threads_, precision_, head);
}

}  // namespace starpo
