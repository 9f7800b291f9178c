#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "rollout/rollout_writer.h"

namespace starpo {

// Throws evaluation_name_invalid, or evaluation_exists where a result has the name already.
void refuse_evaluation_name(const std::filesystem::path& run_directory, const std::string& name);

// Writes evaluations/<name>.jsonl.zst and .index.json, then <name>.json, which makes them count: `result_json` with `file`, `index` and `episodes` added, which is returned.
// Several processes may write evaluations of one run: they take turns, the second of one name fails, and what a killed one left half is removed.
// Errors: evaluation_exists, disk_full, file_unwritable; then nothing of this one is left.
std::string write_evaluation_files(const std::filesystem::path& run_directory, const std::string& name, const std::string& result_json, int iteration, const std::string& split,
                                   const std::function<void(RolloutWriter&)>& add_episodes);

}  // namespace starpo
