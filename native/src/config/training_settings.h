#pragma once

#include <string>

#include "engine/engine.h"

// The sections of run.json about training: start, critic, optimizer, evaluation and stored files.
namespace starpo {

class FieldVisitor;

// load: the folder's weights. random: only shape and tokenizer come from the folder.
enum class StartWeights { load, random };

struct StartConfig {
  std::string model;
  StartWeights weights = StartWeights::load;
  std::string sha256;  // empty: not checked
  std::string run;     // `model` is a checkpoint of this run; empty: a model folder
  int checkpoint = 0;  // iteration of that checkpoint
  bool keep_optimizer = false;
};

// The run that this run was created from, for display only.
struct ParentConfig {
  std::string run;  // empty: none
  int iteration = 0;
};

enum class CriticModel { none, full, head };

// full: a separate network. head: a linear layer on the policy's features, whose gradient stops at the layer.
struct CriticConfig {
  CriticModel model = CriticModel::none;
  double learning_rate = 0;
  double value_clip = 0;
  double gradient_clip = 0;
  int warmup = 0;  // iterations that train the critic alone
};

enum class LearningRateSchedule { constant, linear, cosine };

struct OptimizerConfig {
  double learning_rate = 0;
  int warmup = 0;
  LearningRateSchedule schedule = LearningRateSchedule::constant;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double weight_decay = 0;
  double gradient_clip = 0;
  int micro_batch_tokens = 0;
  Recompute recompute = Recompute::none;
};

// Replay of groups of earlier iterations in an update.
struct ReplayConfig {
  int iterations = 0;  // staleness limit; 0: no replay
  double share = 0;    // of the update's groups

  bool is_active() const { return iterations > 0 && share > 0; }
};

struct EvaluationConfig {
  int every = 0;
  int levels = 0;
  double temperature = 0;
};

struct CheckpointConfig {
  int every = 0;
  int keep = 0;
};

// Retention of training episodes on disk. Evaluation episodes are always kept.
struct RolloutFilesConfig {
  int keep_last = 0;   // newest iterations; 0: all
  int keep_every = 0;  // also every m-th iteration; 0: none
};

struct StorageConfig {
  double budget_gigabytes = 0;  // 10^9 bytes; 0: none
};

struct WarmStartConfig {
  int steps_per_iteration = 0;
  int batch = 0;
  double plain = 0;
  double positions = 0;
  double careful = 0;
  double mistakes = 0;
};

// Rules that end a run early; 0: off.
struct EarlyStopConfig {
  double reward_std = 0;       // fraction of the mean over the first iterations
  int failed_evaluations = 0;  // consecutive evaluations
  int empty_filters = 0;       // consecutive iterations
};

// Diagnostics of how reasoning depends on its prompt, and of the policy's distance from its start.
struct DiagnosticsConfig {
  int every = 0;       // iterations; 0: none
  int samples = 0;     // reasoning texts and episodes used
  bool probe = false;  // use reasoning from a fixed set of levels, played for this purpose
};

void describe(FieldVisitor&, StartConfig&);
void describe(FieldVisitor&, ParentConfig&);
void describe(FieldVisitor&, CriticConfig&);
void describe(FieldVisitor&, OptimizerConfig&);
void describe(FieldVisitor&, ReplayConfig&);
void describe(FieldVisitor&, EvaluationConfig&);
void describe(FieldVisitor&, CheckpointConfig&);
void describe(FieldVisitor&, RolloutFilesConfig&);
void describe(FieldVisitor&, StorageConfig&);
void describe(FieldVisitor&, WarmStartConfig&);
void describe(FieldVisitor&, EarlyStopConfig&);
void describe(FieldVisitor&, DiagnosticsConfig&);

}  // namespace starpo
