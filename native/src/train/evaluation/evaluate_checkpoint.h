#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "config/run_config.h"
#include "rollout/rollout_writer.h"

namespace starpo {

// What to evaluate; what isn't given is as in run.json.
struct EvaluationRequest {
  int checkpoint = 0;
  std::optional<std::string> label =
      std::nullopt;  // an environment of the run; not given: the first that is validated, else the first
  std::optional<std::string> environment =
      std::nullopt;  // JSON of a whole environment, as in run.json's environments[], in place of `label`
  std::optional<int> levels = std::nullopt;
  std::optional<double> temperature = std::nullopt;
  std::optional<std::uint32_t> seed = std::nullopt;  // of the first level
  std::optional<std::string> name = std::nullopt;    // of the result; not given: 000050-<label>
};

// run.json made into what is evaluated: its only environment is the wanted one. Errors: those of read_run_config,
// environment_unknown.
struct EvaluationPlan {
  RunConfig config;
  int draws = 0;  // the environment's place in run.json; after the last where it isn't there
  std::string name;
};
EvaluationPlan plan_evaluation(const std::filesystem::path& run_directory, const EvaluationRequest&);

// Plays a checkpoint's policy on the planned levels and writes evaluations/<name>.json and its episodes
// (docs/formats/evaluation.md), all or nothing. The run may be training meanwhile: its lock and its journal are left
// alone. `progress` is called after every decoding step and may throw to give up. Returns the result as JSON text.
// Errors: evaluation_name_invalid, evaluation_exists, checkpoint_missing, checkpoint_pruned, checkpoint_corrupt,
// precision_unsupported, context_too_small, non_finite_logprob, disk_full, file_unwritable.
std::string evaluate_checkpoint(const std::filesystem::path& run_directory, int checkpoint, const EvaluationPlan&,
                                const std::function<void(int done, int total)>& progress);

// Writes evaluations/<name>.jsonl.zst and .index.json, then <name>.json, which makes them count: `result_json` with
// `file`, `index` and `episodes` added, which is returned. Several processes may write evaluations of one run: they
// take turns, the second of one name fails, and what a killed one left half is removed. Errors: evaluation_exists,
// disk_full, file_unwritable; then nothing of this one is left.
std::string write_evaluation_files(const std::filesystem::path& run_directory, const std::string& name,
                                   const std::string& result_json, int iteration, const std::string& split,
                                   const std::function<void(RolloutWriter&)>& add_episodes);

}  // namespace starpo
