#pragma once

#include <memory>
#include <string>

#include "base/thread_pool.h"
#include "config/run_config.h"
#include "engine/network.h"
#include "model/precision.h"

namespace starpo {

enum class NetworkUse { trained, read };  // read: no gradients, no optimiser

// A device that networks live on.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string device() const = 0;        // "cpu", "cuda:0"
  virtual std::string device_name() const = 0;   // what its maker calls it
  virtual std::string instructions() const = 0;  // the processor's instruction set or the GPU's architecture that its products use

  virtual std::unique_ptr<Network> make_network(const ModelConfig&, ModelHead, NetworkUse) = 0;
};

struct EngineSettings {
  std::string device = "cpu";  // as in run.json: also "auto" and "cuda"
  Precision precision = Precision::fp32;
};

EngineSettings engine_settings(const RunConfig&);

// The pool must outlive the engine. Errors: device_unavailable; precision_unsupported, when a network is made.
std::unique_ptr<Engine> make_engine(const EngineSettings&, ThreadPool&);

}  // namespace starpo
