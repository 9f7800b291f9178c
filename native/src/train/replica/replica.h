#pragma once

#include <memory>
#include <span>

#include "config/run_config.h"
#include "engine/engine.h"

namespace starpo {

// Predicts the remaining score of an episode for every trained token. The value is read at the input token that
// predicts the trained token, so it depends on the state before the token was chosen, but not on the token.
class Critic {
 public:
  virtual ~Critic() = default;

  // Copies the policy's weights, if it has a network of its own, and sets all values to 0.
  virtual void initialize_from(Network& policy) = 0;

  virtual Trainable& trained() = 0;

  // Returns whether forward reads the policy's features. If so, the policy's pass must have processed the same batch
  // just before.
  virtual bool reads_policy() const = 0;
  // Computes values: [targets].
  virtual void forward(const PackedBatch&, const NetworkPass& policy, std::span<float> values) = 0;
  // Adds d(loss)/d(weights). Splitting a mini-batch into consecutive batches changes no bit on a CPU or of a head.
  virtual void backward(std::span<const float> value_gradients) = 0;
};

// All networks, passes and the generator of a run on one device. With several devices, each would have a replica.
struct Replica {
  // Reserves device memory. Weights are uninitialized until loaded. model: architecture of the policy. The pool must
  // outlive this object. Throws the errors of make_engine and Engine::reserve, and precision_unsupported.
  Replica(const RunConfig&, const ModelConfig& model, ThreadPool&);

  std::unique_ptr<Engine> engine;
  EngineNeeds needs;  // what the engine has reserved
  // Maximum tokens per pass: optimizer.micro_batch_tokens or, if 0, a size that suits the device.
  int micro_batch_tokens = 0;
  MemoryPlan memory_plan;
  std::unique_ptr<Network> policy;
  std::unique_ptr<NetworkPass> policy_pass;
  std::unique_ptr<Generator> generator;  // decodes with the policy
  std::unique_ptr<Critic> critic;        // null without one
  std::unique_ptr<Network> reference;    // null without a KL term
  std::unique_ptr<NetworkPass> reference_pass;
  // Start weights of the run. Null if not needed, if the reference is the same or if they are missing.
  std::unique_ptr<Network> start;
  std::unique_ptr<NetworkPass> start_pass;
};

}  // namespace starpo
