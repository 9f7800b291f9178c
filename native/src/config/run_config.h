#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "algorithm/advantage.h"
#include "algorithm/filter.h"
#include "algorithm/objectives.h"
#include "config/training_settings.h"
#include "rollout/settings.h"

// run.json, key by key as docs/formats/run-config.md describes it.
namespace starpo {

enum class Task { reinforce, warm_start };

// What an alarm does without being asked.
enum class Reaction { notify, pause, stop, rollback };

struct RunConfig {
  int version = 0;
  std::string preset;
  Task task = Task::reinforce;
  std::uint32_t seed = 0;
  std::string device;     // "auto", "cpu", "cuda", "cuda:1"
  int threads = 0;        // 0: one for each core
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
  AdvantageConfig advantage;
  CriticConfig critic;
  KlConfig kl;
  PolicyLossConfig policy_loss;
  OptimizerConfig optimizer;
  EvaluationConfig evaluation;
  CheckpointConfig checkpoint;
  RolloutFilesConfig rollout_files;
  StorageConfig storage;
  WarmStartConfig warm_start;
  DiagnosticsConfig diagnostics;
  Reaction reaction = Reaction::notify;
  std::vector<std::string>
      changed_since;  // sentences on what goes on differently than when an older run.json was written
};

void describe(FieldVisitor&, RunConfig&);

// The last iteration that trains the critic alone: a critic that begins anew warms up wherever the run begins.
int critic_warmup_end(const RunConfig&);

// Errors: config_missing, config_unreadable, config_invalid (the message begins with the key's path),
// config_version_unsupported.
RunConfig read_run_config(const std::filesystem::path& file);
RunConfig parse_run_config(std::string_view json);

// Sentences on settings that are allowed but rarely meant.
std::vector<std::string> run_config_warnings(const RunConfig&);

// Every key with its type and range, each environment's keys, and the metric names, as one JSON document.
std::string run_config_schema();

}  // namespace starpo
