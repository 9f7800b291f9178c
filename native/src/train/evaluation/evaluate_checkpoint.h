#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "config/run_config.h"

namespace starpo {

// Options of an evaluation. Unset fields default to run.json.
struct EvaluationRequest {
  int checkpoint = 0;
  // Environment of the run. Default: the first with `validate`, else the first.
  std::optional<std::string> label = std::nullopt;
  // JSON of a whole environment, as in environments[] of run.json. Overrides `label`.
  std::optional<std::string> environment = std::nullopt;
  std::optional<int> levels = std::nullopt;
  std::optional<double> temperature = std::nullopt;
  std::optional<double> top_p = std::nullopt;
  std::optional<int> top_k = std::nullopt;
  std::optional<double> min_p = std::nullopt;
  std::optional<std::uint32_t> seed = std::nullopt;  // seed of the first level
  std::optional<std::string> name = std::nullopt;    // of the result; default: 000050-<label>
};

// The run's configuration, reduced to the requested environment.
struct EvaluationPlan {
  RunConfig config;
  std::string environment_json;  // the environment without `share` and `validate`, for the result
  int draw_index = 0;            // index of the environment in run.json, or their number if it is not there
  std::string name;
};

// Throws the errors of read_run_config, run_missing and environment_unknown.
EvaluationPlan plan_evaluation(const std::filesystem::path& run_directory, const EvaluationRequest&);

// Plays a checkpoint's policy on the planned levels and writes evaluations/<name>.json and its episodes atomically
// (docs/formats/evaluation.md). Does not use the run's lock or journal, so the run may be training. `progress` is
// called after every decoding step and may throw to cancel. Returns the result as JSON text. Errors:
// checkpoint_missing, checkpoint_pruned, checkpoint_corrupt, environment_changed, precision_unsupported, and those of
// make_engine, Engine::reserve, run_rollout and write_evaluation_files.
std::string evaluate_checkpoint(const std::filesystem::path& run_directory, int checkpoint, const EvaluationPlan&,
                                const std::function<void(int done, int total)>& progress);

}  // namespace starpo
