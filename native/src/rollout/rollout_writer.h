#pragma once

#include <cstdint>
#include <filesystem>
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

// The name of a rollout file without folder and ending: 000012-train.
std::string rollout_name(int iteration, std::string_view split);
// 000012-train-0037
std::string episode_id(int iteration, std::string_view split, int episode);

// Writes <stem>.jsonl.zst, each episode in a zstd frame of its own, and its index <stem>.index.json. Both appear whole
// under their final names or not at all: without finish() nothing stays behind. Errors: disk_full, file_unwritable.
class RolloutWriter {
 public:
  // rollouts/000012-train
  RolloutWriter(const std::filesystem::path& run_directory, int iteration, std::string_view split);
  // `stem`: relative to the run directory.
  RolloutWriter(const std::filesystem::path& run_directory, std::string stem, int iteration, std::string_view split);

  // Both are texts of one JSON object each; the summary has the episode's `id`. Called in episode order.
  void add(std::string_view episode_json, std::string_view summary_json);

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
