#pragma once

#include <memory>
#include <span>

#include "config/run_config.h"
#include "engine/engine.h"

namespace starpo {

// What an episode is expected to score still, for every trained token: read at the input token that predicts it, so
// that a value knows all that was known when the token was chosen, and not the token.
class Critic {
 public:
  virtual ~Critic() = default;

  // Begins with the policy's weights, where it has such, and expects 0 everywhere.
  virtual void start_from(Network& policy) = 0;

  virtual Trainable& trained() = 0;

  // Whether forward reads the policy's features: then the pass must have gone over the same batch just before.
  virtual bool reads_policy() const = 0;
  virtual void forward(const PackedBatch&, const NetworkPass& policy,
                       std::span<float> values) = 0;  // values: [targets]
  // Adds d(loss)/d(weights). However a mini-batch is split over batches, in order, no bit changes.
  virtual void backward(std::span<const float> value_gradients) = 0;
};

// All of a run that lives on one device: the networks, and what plays and learns with them. It is one object, so that
// several devices can each have one.
struct Replica {
  // Takes the device's memory. The weights of all networks are whatever they are until they are loaded. model: the
  // policy's shape. The pool must outlive it. Errors: those of make_engine and Engine::reserve, and
  // precision_unsupported.
  Replica(const RunConfig&, const ModelConfig& model, ThreadPool&);

  std::unique_ptr<Engine> engine;
  EngineNeeds needs;  // what the engine was asked to reserve
  int micro_batch_tokens =
      0;  // most tokens of a pass: the configuration's or, where it leaves that open, what suits the device
  MemoryPlan memory_plan;
  std::unique_ptr<Network> policy;
  std::unique_ptr<NetworkPass> policy_pass;
  std::unique_ptr<Generator> generator;  // of the policy
  std::unique_ptr<Critic> critic;        // null without one
  std::unique_ptr<Network> reference;    // null without a KL term
  std::unique_ptr<NetworkPass> reference_pass;
  std::unique_ptr<Network> start;  // the weights that the run began with; null where nothing asks for them, the
                                   // reference is just that, or they are gone
  std::unique_ptr<NetworkPass> start_pass;
};

}  // namespace starpo
