#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "algorithm/advantage.h"
#include "algorithm/filter.h"
#include "algorithm/sample_loss.h"
#include "config/training_settings.h"
#include "rollout/settings.h"

// The contents of run.json (docs/formats/run-config.md).
namespace starpo {

enum class Task { reinforce, warm_start };

// The automatic action on an alert.
enum class AutomaticAction { notify, pause, stop, rollback };

struct RunConfig {
  int version = 0;
  std::string preset;
  Task task = Task::reinforce;
  std::uint32_t seed = 0;
  std::string device;     // "auto", "cpu", "cuda", "cuda:1"
  int threads = 0;        // 0: one per core
  std::string precision;  // "fp32", "bf16"
  Exactness exactness = Exactness::exact;
  int iterations = 0;
  StartConfig start;
  ParentConfig parent;
  std::vector<EnvironmentConfig> environments;
  RolloutConfig rollout;
  LevelsConfig levels;
  RewardConfig reward;
  FilterConfig filter;
  ReplayConfig replay;
  AdvantageConfig advantage;
  CriticConfig critic;
  KlConfig kl;
  PolicyLossConfig policy_loss;
  CorrectionConfig correction;
  OptimizerConfig optimizer;
  EvaluationConfig evaluation;
  CheckpointConfig checkpoint;
  RolloutFilesConfig rollout_files;
  StorageConfig storage;
  WarmStartConfig warm_start;
  EarlyStopConfig early_stop;
  DiagnosticsConfig diagnostics;
  AutomaticAction automatic_action = AutomaticAction::notify;
  std::vector<std::string> changed_since;  // behavior changes since an older run.json was written, as sentences
};

void describe(FieldVisitor&, RunConfig&);

// Returns the settings of the policy's loss.
LossConfig loss_config(const RunConfig&);

// Returns the iteration before the first: 0, or that of a fork's checkpoint, because random numbers depend on seed and
// iteration.
int first_iteration(const RunConfig&);

// Returns the last iteration that trains only the critic. A fork without optimizer state warms its critic up again.
int critic_warmup_end(const RunConfig&);

// Read a file or a text. Errors: config_missing, config_unreadable, config_invalid (the message begins with the key's
// path), config_version_unsupported, and those of make_environment.
RunConfig read_run_config(const std::filesystem::path& file);
RunConfig parse_run_config(std::string_view json);

// Throws config_invalid if a valid configuration can't be trained: rollouts with truncated sampling. Evaluations of an
// existing run can use it.
void check_trainable(const RunConfig&);

// Returns warnings about settings that are valid but rarely intended, as sentences.
std::vector<std::string> run_config_warnings(const RunConfig&);

// Returns every key with type and range, each environment's keys, and all metrics and events, as one JSON document.
std::string run_config_schema();

}  // namespace starpo
