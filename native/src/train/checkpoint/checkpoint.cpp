#include "train/checkpoint/checkpoint.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "engine/load_weights.h"
#include "files/crc32.h"
#include "files/reading.h"
#include "model/folder.h"
#include "model/safetensors.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/state_json.h"

namespace starpo {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

// Reads the optimizer and critic of a checkpoint. metadata: content of trainer-state.json.
void read_state(const fs::path& folder, const json& metadata, Replica& replica) {
  const auto tensors = state_tensors_of(replica);
  SafetensorsFile file(folder / kCheckpointStateFile);
  for (const StateTensor& tensor : tensors) file.check(tensor.name, tensor.shape());
  for (const StateTensor& tensor : tensors)
    copy_in_chunks(
        0, tensor.owner.size(),
        [&](std::size_t first, std::span<float> values) { file.read(tensor.name, first, values); },
        [&](std::size_t first, std::span<const float> values) { tensor.owner.write(tensor.which, first, values); });
  replica.policy->trained().set_steps(metadata.at("optimizer_steps").get<std::int64_t>());
  if (replica.critic) replica.critic->trained().set_steps(metadata.at("critic_optimizer_steps").get<std::int64_t>());
}

// metadata: content of trainer-state.json.
ReplayBuffer read_replay(const fs::path& folder, const json& metadata) {
  const auto text = read_text_file(folder / kReplayFile, std::numeric_limits<std::uintmax_t>::max());
  if (!text || metadata.at(kReplayChecksum) != crc32_text(crc32(*text)))
    throw Error("model_file_invalid", std::string(kReplayFile) + " is missing or was changed after it was written",
                "use another checkpoint");
  return ReplayBuffer::deserialize(*text);
}

// Returns the iterations of checkpoints that contain a file, newest first.
std::vector<int> checkpoints_with(const fs::path& run_directory, const char* file) {
  std::vector<int> iterations;
  std::error_code missing;
  for (const auto& entry : folder_entries(run_directory / "checkpoints")) {
    const std::string name = entry.filename().string();
    const bool is_number = name.size() >= 6 && name.size() <= 7 &&
                           name.find_first_not_of("0123456789") == std::string::npos;  // at most 1000000
    if (is_number && fs::exists(entry / file, missing)) iterations.push_back(std::stoi(name));
  }
  std::sort(iterations.rbegin(), iterations.rend());
  return iterations;
}

}  // namespace

void remove_old_states(const fs::path& run_directory, int iteration, int keep, Journal& journal) {
  // Newer checkpoints are unreadable and must not count as kept.
  auto with_state = resumable_checkpoints(run_directory);
  std::erase_if(with_state, [&](int other) { return other > iteration || is_checkpoint_pinned(run_directory, other); });
  std::error_code ignored;
  for (std::size_t i = static_cast<std::size_t>(keep); i < with_state.size(); ++i) {
    journal.checkpoint_state_removed(with_state[i]);
    for (const char* file : {kReplayFile, kCheckpointStateFile})
      fs::remove(run_directory / checkpoint_path(with_state[i]) / file, ignored);
  }
}

std::vector<int> resumable_checkpoints(const fs::path& run_directory) {
  return checkpoints_with(run_directory, kCheckpointStateFile);
}

std::vector<int> checkpoints_with_weights(const fs::path& run_directory) {
  return checkpoints_with(run_directory, kCheckpointWeightsFile);
}

void load_start_state(const fs::path& checkpoint, int iteration, Replica& replica) {
  const auto state_error = [&](const char* code, const std::string& why) {
    return Error(code, "can't load the optimizer state of " + checkpoint.string() + ": " + why,
                 "create the run with start.keep_optimizer false, or fork from another checkpoint or run");
  };
  std::error_code missing;
  if (!fs::exists(checkpoint / kCheckpointStateFile, missing))
    throw state_error("start_state_missing", "only the newest checkpoint.keep checkpoints and pinned ones have one");
  try {
    const auto metadata = read_state_json(checkpoint);
    if (const json& version = metadata.at("version"); version != kStateVersion)
      throw state_error("start_state_mismatch", "trainer-state.json has format version " + version.dump() +
                                                    ", expected " + std::to_string(kStateVersion));
    if (const json& saved = metadata.at("iteration"); saved != iteration)
      throw state_error("start_state_mismatch", "trainer-state.json is from iteration " + saved.dump() + ", expected " +
                                                    std::to_string(iteration));
    if (replica.critic && !metadata.contains("critic_optimizer_steps"))
      throw state_error("start_state_mismatch", "the parent run has no critic, but this run has one");
    read_state(checkpoint, metadata, replica);
  } catch (const json::exception& error) {
    throw state_error("checkpoint_corrupt", std::string("trainer-state.json: ") + error.what());
  } catch (const Error& error) {
    if (error.code().starts_with("start_state") || is_unrelated_to_checkpoint(error.code())) throw;
    const bool damaged = error.code().starts_with("model_file_") || error.code() == "model_weights_non_finite";
    throw state_error(damaged ? "checkpoint_corrupt" : "start_state_mismatch", error.what());
  }
}

std::int64_t load_checkpoint(const fs::path& run_directory, int iteration, std::uint32_t seed, Replica& replica,
                             ReplayBuffer* replay) {
  const fs::path folder = run_directory / checkpoint_path(iteration);
  const auto corrupt = [&](const std::string& why) {
    return Error("checkpoint_corrupt", checkpoint_path(iteration) + " can't be read: " + why,
                 "remove that folder to resume from the previous checkpoint, or start a new run");
  };
  try {
    const auto metadata = read_state_json(folder);
    if (metadata.at("version") != kStateVersion || metadata.at("iteration") != iteration || metadata.at("seed") != seed)
      throw corrupt("trainer-state.json is from another run, iteration or format version");
    if (!(read_model_folder_config(folder) == replica.policy->layout().config()))
      throw corrupt("its model has a different architecture");
    read_state(folder, metadata, replica);
    load_weights(folder, *replica.policy);
    if (replay) *replay = read_replay(folder, metadata);
    return metadata.at("journal_seq").get<std::int64_t>();
  } catch (const json::exception& error) {
    throw corrupt(std::string("trainer-state.json: ") + error.what());
  } catch (const Error& error) {
    if (error.code() == "checkpoint_corrupt" || is_unrelated_to_checkpoint(error.code())) throw;
    throw corrupt(error.what());
  }
}

bool is_unrelated_to_checkpoint(std::string_view code) {
  constexpr std::array<std::string_view, 8> codes{"config_invalid",     "environment_changed", "precision_unsupported",
                                                  "device_unavailable", "model_unsupported",   "out_of_memory",
                                                  "gpu_out_of_memory",  "gpu_failed"};
  return std::ranges::find(codes, code) != codes.end();
}

void remove_partial_files(const fs::path& run_directory) {
  for (const char* folder : {"checkpoints", "rollouts"}) {
    std::error_code ignored;
    std::vector<fs::path> partial, replaced;
    for (const auto& entry : folder_entries(run_directory / folder)) {
      const std::string name = entry.filename().string();
      if (name.starts_with(".") && name.ends_with(kPartialSuffix)) partial.push_back(entry);
      if (name.starts_with(".") && name.ends_with(kReplacedSuffix)) replaced.push_back(entry);
    }
    for (const auto& path : partial) fs::remove_all(path, ignored);
    for (const auto& path : replaced) {
      const auto name = path.filename().string();
      const auto destination = path.parent_path() / name.substr(1, name.size() - 1 - kReplacedSuffix.size());
      if (fs::exists(destination, ignored))
        fs::remove_all(path, ignored);
      else
        fs::rename(path, destination, ignored);
    }
  }
}

}  // namespace starpo
