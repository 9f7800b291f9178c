#include "train/checkpoint/checkpoint.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "engine/load_weights.h"
#include "files/descriptor.h"
#include "files/reading.h"
#include "files/temporary_file.h"
#include "journal/stamp.h"
#include "model/folder.h"
#include "model/safetensors.h"

namespace starpo {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

constexpr auto kStateJson = "trainer-state.json";
constexpr int kStateVersion = 1;

constexpr std::string_view kPartialSuffix = ".partial";    // being written
constexpr std::string_view kReplacedSuffix = ".replaced";  // moved aside to be replaced

// Returns a hidden path beside a folder: checkpoints/.000050.partial.
fs::path hidden_path(const fs::path& folder, std::string_view ending) {
  return folder.parent_path() / ("." + folder.filename().string() + std::string(ending));
}

void throw_if_failed(const std::error_code& error, const fs::path& path) {
  if (error) throw write_error(path, error.value());
}

// Replaces `destination` with a complete folder. If the process is killed, one of the two remains under a name that
// remove_partial_files recognizes.
void replace_folder(const fs::path& partial, const fs::path& destination) {
  const fs::path replaced = hidden_path(destination, kReplacedSuffix);
  std::error_code error, ignored;
  if (fs::exists(destination)) {
    fs::rename(destination, replaced, error);
    throw_if_failed(error, destination);
  }
  fs::rename(partial, destination, error);
  throw_if_failed(error, destination);
  fsync_directory(destination.parent_path());
  fsync_directory(destination.parent_path().parent_path());  // checkpoints/ itself may be new
  fs::remove_all(replaced, ignored);
}

// A flat tensor of trainer-state.safetensors and its source.
struct StateTensor {
  const char* name;
  Trainable& owner;
  StateVector which;

  std::vector<std::int64_t> shape() const { return {static_cast<std::int64_t>(owner.size())}; }
};

std::vector<StateTensor> state_tensors_of(Replica& replica) {
  Trainable& policy = replica.policy->trained();
  std::vector<StateTensor> tensors{{"optimizer.first_moment", policy, StateVector::first_moment},
                                   {"optimizer.second_moment", policy, StateVector::second_moment}};
  if (replica.critic) {
    Trainable& critic = replica.critic->trained();
    tensors.push_back({"critic.weights", critic, StateVector::weights});
    tensors.push_back({"critic.first_moment", critic, StateVector::first_moment});
    tensors.push_back({"critic.second_moment", critic, StateVector::second_moment});
  }
  return tensors;
}

// Writes in chunks, so that memory use does not grow with the model.
void write_state(const fs::path& file, const std::vector<StateTensor>& tensors) {
  std::vector<TensorName> names;
  for (const StateTensor& tensor : tensors) names.push_back({tensor.name, tensor.shape()});
  SafetensorsWriter writer(file, names);
  for (const StateTensor& tensor : tensors)
    copy_in_chunks(
        0, tensor.owner.size(),
        [&](std::size_t first, std::span<float> values) { tensor.owner.read(tensor.which, first, values); },
        [&](std::size_t, std::span<const float> values) { writer.write(values); });
  writer.commit();
}

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

void write_folder(const fs::path& folder, const CheckpointParts& parts, int iteration, std::int64_t journal_seq) {
  const Network& policy = *parts.replica.policy;
  std::error_code error, ignored;
  fs::remove_all(folder, ignored);
  // One level at a time: a run folder that was moved is not created again.
  fs::create_directory(folder.parent_path(), ignored);
  fs::create_directory(folder, error);
  throw_if_failed(error, folder);
  const auto weights = [&](std::size_t first, std::span<float> values) { policy.read_weights(first, values); };
  write_model_folder(folder, policy.layout(), ReadWeights(weights), parts.stop_ids);
  for (const auto& [name, content] : parts.published_files) write_file_atomically(folder / name, content);
  write_state(folder / kCheckpointStateFile, state_tensors_of(parts.replica));
  json metadata{{"version", kStateVersion},  {"build", build_version()},
                {"iteration", iteration},    {"optimizer_steps", parts.replica.policy->trained().steps()},
                {"seed", parts.config.seed}, {"journal_seq", journal_seq}};
  if (parts.replica.critic) metadata["critic_optimizer_steps"] = parts.replica.critic->trained().steps();
  write_file_atomically(folder / kStateJson, metadata.dump(2) + "\n");
  fsync_directory(folder);
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

void write_checkpoint(const fs::path& run_directory, const CheckpointParts& parts, int iteration, Journal& journal) {
  const fs::path folder = run_directory / checkpoint_path(iteration), partial = hidden_path(folder, kPartialSuffix);
  std::error_code ignored;
  try {
    write_folder(partial, parts, iteration, journal.next_seq());
    // A checkpoint that is rewritten because it was unreadable stays pinned.
    if (is_checkpoint_pinned(run_directory, iteration)) write_file_atomically(partial / kCheckpointPinFile, "");
    journal.sync();
  } catch (...) {
    fs::remove_all(partial, ignored);  // frees space for the journal to report a full disk
    throw;
  }

  replace_folder(partial, folder);
  journal.checkpoint(iteration, checkpoint_path(iteration));
  remove_old_states(run_directory, iteration, parts.config.checkpoint.keep, journal);
}

void remove_old_states(const fs::path& run_directory, int iteration, int keep, Journal& journal) {
  // Newer checkpoints are unreadable and must not count as kept.
  auto with_state = resumable_checkpoints(run_directory);
  std::erase_if(with_state, [&](int other) { return other > iteration || is_checkpoint_pinned(run_directory, other); });
  std::error_code ignored;
  for (std::size_t i = static_cast<std::size_t>(keep); i < with_state.size(); ++i) {
    journal.checkpoint_state_removed(with_state[i]);
    fs::remove(run_directory / checkpoint_path(with_state[i]) / kCheckpointStateFile, ignored);
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
                 "create the run with start.keep_optimizer false, or fork from a checkpoint with optimizer state");
  };
  std::error_code missing;
  if (!fs::exists(checkpoint / kCheckpointStateFile, missing))
    throw state_error("start_state_missing", "it was deleted according to checkpoint.keep; pinned checkpoints keep it");
  try {
    const auto metadata = json::parse(std::ifstream(checkpoint / kStateJson));
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
    throw state_error("start_state_mismatch", error.what());
  }
}

std::int64_t load_checkpoint(const fs::path& run_directory, int iteration, std::uint32_t seed, Replica& replica) {
  const fs::path folder = run_directory / checkpoint_path(iteration);
  const auto corrupt = [&](const std::string& why) {
    return Error("checkpoint_corrupt", checkpoint_path(iteration) + " can't be read: " + why,
                 "remove that folder to resume from the previous checkpoint, or start a new run");
  };
  try {
    const auto metadata = json::parse(std::ifstream(folder / kStateJson));
    if (metadata.at("version") != kStateVersion || metadata.at("iteration") != iteration || metadata.at("seed") != seed)
      throw corrupt("trainer-state.json is from another run, iteration or format version");
    if (!(read_model_folder_config(folder) == replica.policy->layout().config()))
      throw corrupt("its model has a different architecture");
    read_state(folder, metadata, replica);
    load_weights(folder, *replica.policy);
    return metadata.at("journal_seq").get<std::int64_t>();
  } catch (const json::exception& error) {
    throw corrupt(std::string("trainer-state.json: ") + error.what());
  } catch (const Error& error) {
    if (error.code() == "checkpoint_corrupt" || is_unrelated_to_checkpoint(error.code())) throw;
    throw corrupt(error.what());
  }
}

bool is_unrelated_to_checkpoint(std::string_view code) {
  constexpr std::array<std::string_view, 7> codes{"config_invalid",    "precision_unsupported", "device_unavailable",
                                                  "model_unsupported", "out_of_memory",         "gpu_out_of_memory",
                                                  "gpu_failed"};
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
