#include "rollout/rollout_writer.h"

#include <zstd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

std::filesystem::path create_parent(std::filesystem::path file) {
  std::error_code ignored;  // opening the file reports the error
  std::filesystem::create_directory(file.parent_path(), ignored);
  return file;
}

std::string compressed_frame(std::string_view text) {
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  const auto size = ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), 3);
  if (ZSTD_isError(size)) throw std::runtime_error(ZSTD_getErrorName(size));
  frame.resize(size);
  return frame;
}

}  // namespace

std::string rollout_name(int iteration, std::string_view split) {
  char number[16];
  std::snprintf(number, sizeof number, "%06d-", iteration);
  return number + std::string(split);
}

std::string episode_id(int iteration, std::string_view split, int episode) {
  char number[16];
  std::snprintf(number, sizeof number, "-%04d", episode);
  return rollout_name(iteration, split) + number;
}

RolloutWriter::RolloutWriter(const std::filesystem::path& run_directory, int iteration, std::string_view split)
    : RolloutWriter(run_directory, "rollouts/" + rollout_name(iteration, split), iteration, split) {}

RolloutWriter::RolloutWriter(const std::filesystem::path& run_directory, std::string stem, int iteration,
                             std::string_view split)
    : run_directory_(run_directory),
      stem_(std::move(stem)),
      iteration_(iteration),
      split_(split),
      file_(create_parent(run_directory / (stem_ + ".jsonl.zst"))) {}

void RolloutWriter::add(std::string_view episode_json, const nlohmann::json& summary) {
  const auto frame = compressed_frame(std::string(episode_json) + "\n");
  file_.write(frame);
  Json entry{{"id", summary.at("id")}, {"offset", offset_}, {"length", frame.size()}};
  for (const auto& [key, value] : summary.items()) entry[key] = value;
  index_ += (episodes_ > 0 ? ",\n" : "\n") + entry.dump();
  offset_ += static_cast<std::int64_t>(frame.size());
  ++episodes_;
}

RolloutFiles RolloutWriter::finish() {
  file_.commit();
  const RolloutFiles files{.file = stem_ + ".jsonl.zst", .index = stem_ + ".index.json", .episodes = episodes_};
  const auto head = Json{{"version", 1}, {"iteration", iteration_}, {"split", split_}}.dump();
  write_file_atomically(run_directory_ / files.index,
                        head.substr(0, head.size() - 1) + ",\"episodes\":[" + index_ + "\n]}\n");
  return files;
}

}  // namespace starpo
