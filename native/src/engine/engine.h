#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/thread_pool.h"
#include "engine/network.h"
#include "engine/memory_plan.h"
#include "model/precision.h"

namespace starpo {

// exact: rollout and update compute a token's log-probability to the same bits.
enum class Exactness { exact, fast };

// What a backward pass computes again rather than keeping it from the forward one.
enum class Recompute { none, elementwise, block };


enum class NetworkUse { trained, read };  // read: no gradients, no optimiser

// All that networks on a device will be asked for, so that a device with little memory can plan it, and take it once.
struct EngineNeeds {
  ModelConfig model;
  bool trains_policy = false;
  bool trains_critic = false;  // a full one
  bool reads_reference = false;
  int slots = 0;        // of the generator; 0: there is none
  int groups = 0;       // whose prompts are shared at a time
  int context = 0;      // most tokens of a slot
  int pass_tokens = 0;  // most tokens of a micro-batch
  Recompute recompute = Recompute::none;
};

// A device that networks live on.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string device() const = 0;        // "cpu", "cuda:0"
  virtual std::string device_name() const = 0;   // what its maker calls it
  virtual std::string instructions() const = 0;  // the processor's instruction set or the GPU's architecture that its products use

  // Tokens of a micro-batch where none are asked for; of needs.pass_tokens nothing is read.
  virtual int suitable_pass_tokens(const EngineNeeds&) const = 0;

  // Once, before any network is made. Nothing for a device that takes memory as it goes. Errors: gpu_out_of_memory, with a setting that would fit;
  // model_unsupported.
  virtual std::optional<MemoryPlan> reserve(const EngineNeeds&) = 0;
  // After reserve: what a person may want to change about the device's set-up.
  virtual std::optional<std::string> warning() const { return std::nullopt; }

  // After reserve: what computes the matrix products and why, a sentence, where there is a choice.
  virtual std::optional<std::string> product_choice() const { return std::nullopt; }

  // What is taken of the device's own memory now, by whomever; nothing where it is the machine's.
  virtual std::optional<std::int64_t> memory_in_use() const { return std::nullopt; }

  virtual std::unique_ptr<Network> make_network(const ModelConfig&, ModelHead, NetworkUse) = 0;
};

struct EngineSettings {
  std::string device = "cpu";  // as in run.json: also "auto" and "cuda"
  Precision precision = Precision::fp32;
  Exactness exactness = Exactness::exact;
};

// The pool must outlive the engine. Errors: device_unavailable; precision_unsupported, when a network is made.
std::unique_ptr<Engine> make_engine(const EngineSettings&, ThreadPool&);

}  // namespace starpo
