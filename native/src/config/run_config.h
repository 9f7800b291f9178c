#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// run.json, key by key as docs/formats/run-config.md describes it.
namespace starpo {

enum class Task { reinforce, warm_start };
enum class Noise { shared, independent };
enum class FilterStrategy { none, fraction, top_p };
enum class AdvantageEstimator { grpo, dr_grpo, rloo, gae };
enum class CriticModel { none, full, head };
enum class KlEstimator { k1, k2, k3 };
enum class KlPlacement { reward, loss };
enum class LossAverage { trajectory, token, trajectory_sum, fixed_length };
enum class LearningRateSchedule { constant, linear, cosine };
// exact: rollout and update compute a token's log-probability to the same bits.
enum class Exactness { exact, fast };
// What a backward pass computes again rather than keeping it from the forward one.
enum class Recompute { none, elementwise, block };

// random: the folder gives shape and tokenizer, the seed the weights.
enum class StartWeights { load, random };

struct StartConfig {
  std::string model;
  StartWeights weights = StartWeights::load;
  std::string sha256;  // empty: not checked
};

struct PromptConfig {
  std::string system, first, next;
};

struct EnvironmentConfig {
  std::string label;
  std::string type;
  std::string config;  // JSON text, for make_environment
  double share = 0;
  bool validate = false;
  Noise noise = Noise::shared;
  int max_turns = 0;
  int max_actions_per_turn = 0;
  int max_actions = 0;
  PromptConfig prompt;
};

struct RolloutConfig {
  int groups = 0;
  int group_size = 0;
  int slots = 0;
  double temperature = 0;
  double top_p = 0;
  int top_k = 0;
  double min_p = 0;
  int max_response_tokens = 0;
  int context = 0;
  bool think = false;
};

struct LevelsConfig {
  std::uint32_t train_seed = 0;
  std::uint32_t validation_seed = 0;
  int pool = 0;
};

struct RewardConfig {
  double format_penalty = 0;
};

struct FilterConfig {
  FilterStrategy strategy = FilterStrategy::none;
  double keep = 0;
};

struct AdvantageConfig {
  AdvantageEstimator estimator = AdvantageEstimator::grpo;
  double gamma = 0;
  double lambda = 0;
  bool whiten = false;
};

// full: its own copy of the policy's blocks; head: a layer on the policy's own, which it doesn't change.
struct CriticConfig {
  CriticModel model = CriticModel::none;
  double learning_rate = 0;
  double value_clip = 0;
  double gradient_clip = 0;
  int warmup = 0;  // iterations that train the critic alone
};

struct KlConfig {
  double coefficient = 0;
  KlEstimator estimator = KlEstimator::k1;
  KlPlacement placement = KlPlacement::reward;
  std::string reference;  // model folder; empty: the run's initial weights
};

struct PolicyLossConfig {
  double clip_low = 0;
  double clip_high = 0;
  double dual_clip = 0;
  double entropy_coefficient = 0;
  LossAverage average = LossAverage::trajectory;
  int mini_batch = 0;
  int epochs = 0;
};

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

struct EvaluationConfig {
  int every = 0;
  int levels = 0;
  double temperature = 0;
};

struct CheckpointConfig {
  int every = 0;
  int keep = 0;
};

// Which episodes of training stay on disk; those of evaluation always do.
struct RolloutFilesConfig {
  int keep_last = 0;   // newest iterations; 0: all
  int keep_every = 0;  // and every m-th iteration; 0: none
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
};

// Errors: config_missing, config_unreadable, config_invalid (the message begins with the key's path), config_version_unsupported.
RunConfig read_run_config(const std::filesystem::path& file);
RunConfig parse_run_config(std::string_view json);

// Sentences on settings that are allowed but rarely meant.
std::vector<std::string> run_config_warnings(const RunConfig&);

// Every key with its type and range, each environment's keys, and the metric names, as one JSON document.
std::string run_config_schema();

}  // namespace starpo
