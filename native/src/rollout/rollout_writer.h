#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "files/temporary_file.h"

namespace starpo {

// Paths of a finished rollout file and its index, relative to the run directory.
struct RolloutFiles {
  std::string file;
  std::string index;
  int episodes = 0;
};

// Returns the name of a rollout file without folder and extension: 000012-train.
std::string rollout_name(int iteration, std::string_view split);
// Returns an episode id: 000012-train-0037.
std::string episode_id(int iteration, std::string_view split, int episode);

// Writes <stem>.jsonl.zst, with one zstd frame per episode, and its index <stem>.index.json. finish() publishes both
// files; without it, nothing remains. Errors: disk_full, file_unwritable.
class RolloutWriter {
 public:
  // Writes rollouts/000012-train.
  RolloutWriter(const std::filesystem::path& run_directory, int iteration, std::string_view split);
  // `stem`: path relative to the run directory.
  RolloutWriter(const std::filesystem::path& run_directory, std::string stem, int iteration, std::string_view split);

  // Call in episode order. `episode_json`: text of a JSON object; `summary`: an object with the episode's `id`.
  void add(std::string_view episode_json, const nlohmann::json& summary);

  RolloutFiles finish();

 private:
  std::filesystem::path run_directory_;
  std::string stem_;
  int iteration_;
  std::string split_;
  TemporaryFile file_;
  std::string index_;
  std::int64_t offset_ = 0;
  int episodes_ = 0;
};

}  // namespace starpo
