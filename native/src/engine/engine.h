#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/thread_pool.h"
#include "engine/memory_plan.h"
#include "engine/network.h"
#include "model/precision.h"

namespace starpo {

// In `exact` mode, rollout and update compute bit-identical log-probabilities.
enum class Exactness { exact, fast };

// Host memory that a device can copy to at full speed.
class HostMemory {
 public:
  virtual ~HostMemory() = default;
  virtual std::span<float> values() = 0;
};

// A device that networks run on.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string device() const = 0;                 // "cpu", "cuda:0"
  virtual std::string device_name() const = 0;            // the vendor's name
  virtual std::string device_uuid() const { return {}; }  // identifies a GPU independently of its index; empty: unknown
  virtual std::string instructions() const = 0;  // CPU instruction set or GPU architecture used for matrix products

  // Returns the default number of tokens per micro-batch. Ignores needs.pass_tokens.
  virtual int default_pass_tokens(const EngineNeeds&) const = 0;

  // Plans memory. Call once, before creating networks. Errors: gpu_out_of_memory or out_of_memory (CPU), whose hint
  // names a setting that fits; model_unsupported.
  virtual MemoryPlan reserve(const EngineNeeds&) = 0;
  // Returns whether reserve() allocates the planned memory, so that a worst-case step before the run proves that it
  // suffices. Otherwise memory is allocated on demand.
  virtual bool preallocates() const = 0;
  // Returns a warning about the device's configuration, if any. Call after reserve().
  virtual std::optional<std::string> warning() const { return std::nullopt; }

  // Returns a sentence about which library computes the matrix products and why, if there is a choice. Call after
  // reserve().
  virtual std::optional<std::string> product_choice() const { return std::nullopt; }

  // Returns a sentence about large matrix products that the library refused until now, or nothing. They are correct,
  // but slow.
  virtual std::optional<std::string> refused_products() const { return std::nullopt; }

  // Returns the device memory that all processes use, in bytes. Returns nothing if the device uses host memory.
  virtual std::optional<std::int64_t> memory_in_use() const { return std::nullopt; }

  // Returns page-locked memory for copies of the networks' state, or null if their state is in host memory. Errors:
  // std::bad_alloc.
  virtual std::unique_ptr<HostMemory> allocate_host_memory(std::size_t) { return nullptr; }

  virtual std::unique_ptr<Network> make_network(const ModelConfig&, ModelHead, NetworkUse) = 0;
};

struct EngineSettings {
  std::string device = "cpu";  // as in run.json, including "auto" and "cuda"
  Precision precision = Precision::fp32;
  Exactness exactness = Exactness::exact;
};

// A linear value head on the policy's features, initialized to 0. It runs on the CPU, because it is small.
class ValueHead {
 public:
  virtual ~ValueHead() = default;

  virtual Trainable& trained() = 0;

  // features: [rows, hidden] -> values: [rows].
  virtual void forward(std::span<const float> features, std::span<float> values) = 0;
  // Adds d(loss)/d(weights) of the last forward pass. Sums over rows in order, so that batching changes no bit. The
  // features receive no gradient.
  virtual void backward(std::span<const float> value_gradients) = 0;
};

// The pool must outlive the head.
std::unique_ptr<ValueHead> make_value_head(int hidden, ThreadPool&);

// The pool must outlive the engine. Errors: device_unavailable; make_network may throw precision_unsupported.
std::unique_ptr<Engine> make_engine(const EngineSettings&, ThreadPool&);

// Checks that this machine can run an engine with these settings, without allocating device memory. Errors:
// device_unavailable, precision_unsupported.
void check_engine(const EngineSettings&);

}  // namespace starpo
