#include "train/evaluation/evaluate_checkpoint.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "config/upgrade.h"
#include "engine/engine.h"
#include "engine/load_weights.h"
#include "files/reading.h"
#include "files/sha256.h"
#include "journal/stamp.h"
#include "model/folder.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/state_json.h"
#include "train/context/playground.h"
#include "train/context/trainer_state.h"
#include "train/evaluation/evaluation.h"
#include "train/evaluation/evaluation_files.h"
#include "train/evaluation/panel.h"
#include "train/metrics/environment_failures.h"
#include "train/metrics/rollout_metrics.h"
#include "train/replica/engine_needs.h"

namespace starpo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string comma_separated(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Returns a hint that lists the run's other checkpoints with weights, oldest first.
std::string other_checkpoints_hint(const fs::path& run_directory, int checkpoint) {
  std::vector<std::string> names;
  for (const int iteration : checkpoints_with_weights(run_directory))
    if (iteration != checkpoint) names.push_back(std::to_string(iteration));
  if (names.empty()) return "the run has no other checkpoint with weights: resume it, or evaluate another run";
  std::ranges::reverse(names);
  return "choose another checkpoint; the run has the weights of: " + comma_separated(names);
}

// Explains why a checkpoint can't be read: it is missing, pruned or damaged.
Error checkpoint_error(const fs::path& run_directory, int checkpoint, const std::string& why) {
  const fs::path folder = run_directory / checkpoint_path(checkpoint);
  const std::string hint = other_checkpoints_hint(run_directory, checkpoint);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    return Error("checkpoint_missing", "checkpoint " + std::to_string(checkpoint) + " of the run was not found", hint);
  if (!fs::exists(folder / kCheckpointWeightsFile, ignored))
    return Error("checkpoint_pruned",
                 "the weights of checkpoint " + std::to_string(checkpoint) + " were removed to save space", hint);
  return Error("checkpoint_corrupt", checkpoint_path(checkpoint) + " can't be read: " + why, hint);
}

int evaluation_slots(const RunConfig& config) { return std::min(config.rollout.slots, config.evaluation.levels); }

// The policy of a checkpoint and the objects it needs to play.
struct Player {
  Player(const RunConfig& config, const fs::path& folder)
      : threads(thread_count(config.threads)),
        playground(config, folder),
        engine(make_engine(engine_settings(config), threads)) {
    const ModelConfig model = read_model_folder_config(folder);
    EngineNeeds needs{.model = model};
    needs.slots = evaluation_slots(config);
    needs.context = config.rollout.context;
    engine->reserve(needs);
    policy = engine->make_network(model, ModelHead::language, NetworkUse::read);
    load_weights(folder, *policy);
  }

  ThreadPool threads;
  Playground playground;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Network> policy;
};

std::unique_ptr<Player> load_player(const fs::path& run_directory, int checkpoint, const RunConfig& config) {
  const fs::path folder = run_directory / checkpoint_path(checkpoint);
  try {
    const auto metadata = read_state_json(folder);
    if (metadata.at("iteration") != checkpoint || metadata.at("seed") != config.seed)
      throw checkpoint_error(run_directory, checkpoint, "trainer-state.json is from another run or iteration");
    return std::make_unique<Player>(config, folder);
  } catch (const Json::exception& error) {
    throw checkpoint_error(run_directory, checkpoint, std::string("trainer-state.json: ") + error.what());
  } catch (const Error& error) {
    const bool is_explained = error.code().starts_with("checkpoint_");
    if (is_unrelated_to_checkpoint(error.code()) || is_explained) throw;
    throw checkpoint_error(run_directory, checkpoint, error.what());
  }
}

// Makes the requested environment, from run.json or the request, the only one of `run`. Returns its index in run.json.
int choose_environment(nlohmann::json& run, const EvaluationRequest& request) {
  nlohmann::json& environments = run["environments"];
  std::vector<std::string> labels;
  for (const auto& environment : environments) labels.push_back(environment["label"]);
  const auto index_of = [&](const std::string& label) {
    return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  };

  int index = 0;
  nlohmann::json chosen;
  if (request.environment) {
    chosen = nlohmann::json::parse(*request.environment, nullptr, false);
    if (!chosen.is_object())
      throw Error("config_invalid", "the environment is not a JSON object",
                  "use the format of an element of environments in run.json");
    if (chosen.contains("label") && chosen["label"].is_string()) index = index_of(chosen["label"]);
  } else {
    if (request.label)
      index = index_of(*request.label);
    else if (const auto validated = std::find_if(environments.begin(), environments.end(),
                                                 [](const auto& each) { return each["validate"] == true; });
             validated != environments.end())
      index = static_cast<int>(validated - environments.begin());
    if (index == static_cast<int>(labels.size()))
      throw Error("environment_unknown", "the run has no environment " + *request.label,
                  "use one of: " + comma_separated(labels));
    chosen = environments[index];
  }
  chosen["share"] = 1;  // a configuration is valid only if one environment is trained
  environments = nlohmann::json::array({chosen});
  return index;
}

}  // namespace

EvaluationPlan plan_evaluation(const fs::path& run_directory, const EvaluationRequest& request) {
  std::error_code ignored;
  if (!fs::is_directory(run_directory, ignored))
    throw Error("run_missing", "run directory " + run_directory.string() + " was not found", "check the path");
  const fs::path file = run_directory / "run.json";
  read_run_config(file);  // validate the original before editing a copy
  auto run = nlohmann::json::parse(std::ifstream(file, std::ios::binary));
  upgrade_run_config(run);
  EvaluationPlan plan;
  plan.draw_index = choose_environment(run, request);
  if (request.levels) run["evaluation"]["levels"] = *request.levels;
  if (request.temperature) run["evaluation"]["temperature"] = *request.temperature;
  if (request.top_p) run["rollout"]["top_p"] = *request.top_p;
  if (request.top_k) run["rollout"]["top_k"] = *request.top_k;
  if (request.min_p) run["rollout"]["min_p"] = *request.min_p;
  if (request.seed) run["levels"]["validation_seed"] = *request.seed;
  plan.config = parse_run_config(run.dump());
  nlohmann::json& environment = run["environments"][0];
  environment.erase("share");
  environment.erase("validate");
  plan.environment_json = environment.dump();
  char number[16];
  std::snprintf(number, sizeof number, "%06d-", request.checkpoint);
  plan.name = request.name.value_or(number + plan.config.environments.front().label);
  return plan;
}

std::string evaluate_checkpoint(const fs::path& run_directory, int checkpoint, const EvaluationPlan& plan,
                                const std::function<void(int done, int total)>& progress) {
  const RunConfig& config = plan.config;
  const EnvironmentConfig& environment = config.environments.front();
  const int levels = config.evaluation.levels;
  check_evaluation_name(run_directory, plan.name);
  const auto player = load_player(run_directory, checkpoint, config);

  const auto start = std::chrono::steady_clock::now();
  const auto generator = player->policy->make_generator(evaluation_slots(config), config.rollout.context);
  progress(0, levels);
  auto episodes = play_evaluation({config, player->playground, *generator}, 0, plan.draw_index,
                                  [&](int done) { progress(done, levels); });
  Json warnings = Json::array();
  for (const EnvironmentFailures& failures : environment_failures(episodes, config)) warnings.push_back(failures.text);
  const auto voids = take_void(episodes);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

  Json played = Json::parse(plan.environment_json);
  const std::string files_digest = player->playground.prototypes.front()->files_digest();
  const std::string panel = panel_of(environment, files_digest, in_order(episodes, voids));
  played["files_sha256"] = files_digest;
  Json result{{"version", 1},
              {"name", plan.name},
              {"time", milliseconds_since_epoch()},
              {"seconds", elapsed.count()},
              {"build", build_version()},
              {"isa", player->engine->instructions()},
              {"checkpoint", checkpoint},
              {"levels", levels},
              {"seed", config.levels.validation_seed},
              {"temperature", config.evaluation.temperature},
              {"top_p", config.rollout.top_p},
              {"top_k", config.rollout.top_k},
              {"min_p", config.rollout.min_p},
              {"panel", sha256(panel)},
              {"environment", played},
              {"metrics", evaluation_metrics(episodes, environment.label)}};
  if (!warnings.empty()) result["warnings"] = warnings;
  return write_evaluation_files(
      run_directory, plan.name, result.dump(2), panel, checkpoint, environment.label, [&](RolloutWriter& writer) {
        write_evaluation(writer, in_order(episodes, voids), checkpoint, environment, player->playground.tokenizer);
      });
}

}  // namespace starpo
