#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "rollout/rollout_writer.h"

namespace starpo {

// Throws evaluation_name_invalid, or evaluation_exists if the run has an evaluation with this name.
void check_evaluation_name(const std::filesystem::path& run_directory, const std::string& name);

// Writes evaluations/<name>.jsonl.zst, .index.json and .panel.json, then <name>.json, which publishes them:
// `result_json` with `file`, `index` and `episodes` added. Returns its text. Processes that write evaluations of one
// run take turns; leftovers of a killed process are removed. Errors: those of check_evaluation_name,
// lock_unavailable, disk_full, file_unwritable; then no files remain.
std::string write_evaluation_files(const std::filesystem::path& run_directory, const std::string& name,
                                   const std::string& result_json, const std::string& panel_json, int iteration,
                                   const std::string& split, const std::function<void(RolloutWriter&)>& add_episodes);

}  // namespace starpo
