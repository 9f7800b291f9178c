#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/thread_pool.h"
#include "engine/memory_plan.h"
#include "engine/network.h"
#include "model/precision.h"

namespace starpo {

// exact: rollout and update compute a token's log-probability to the same bits.
enum class Exactness { exact, fast };

// A device that networks live on.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string device() const = 0;       // "cpu", "cuda:0"
  virtual std::string device_name() const = 0;  // what its maker calls it
  virtual std::string instructions()
      const = 0;  // the processor's instruction set or the GPU's architecture that its products use

  // Tokens of a micro-batch where none are asked for; of needs.pass_tokens nothing is read.
  virtual int suitable_pass_tokens(const EngineNeeds&) const = 0;

  // Once, before any network is made. Errors: gpu_out_of_memory or, of a processor, out_of_memory, with a setting that
  // would fit; model_unsupported.
  virtual MemoryPlan reserve(const EngineNeeds&) = 0;
  // Whether reserve takes what it plans, so that a worst-case step before the run shows that nothing is missing. Else
  // memory is taken as it is needed.
  virtual bool takes_memory_ahead() const = 0;
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

// A value for each row of what a policy's head reads: one linear layer, 0 to begin with. Small enough for the
// processor, wherever the policy is.
class ValueHead {
 public:
  virtual ~ValueHead() = default;

  virtual Trainable& trained() = 0;

  // features: [rows, hidden] -> values: [rows].
  virtual void forward(std::span<const float> features, std::span<float> values) = 0;
  // Adds d(loss)/d(weights) of the last forward: one chain over rows, in order, whatever the batches. The features get
  // no gradient.
  virtual void backward(std::span<const float> value_gradients) = 0;
};

// The pool must outlive the head.
std::unique_ptr<ValueHead> make_value_head(int hidden, ThreadPool&);

// The pool must outlive the engine. Errors: device_unavailable; precision_unsupported, when a network is made.
std::unique_ptr<Engine> make_engine(const EngineSettings&, ThreadPool&);

}  // namespace starpo
