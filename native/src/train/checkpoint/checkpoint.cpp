#include "train/checkpoint/checkpoint.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "engine/load_weights.h"
#include "files/descriptor.h"
#include "files/reading.h"
#include "files/temporary_file.h"
#include "journal/stamp.h"
#include "model/folder.h"
#include "model/safetensors.h"
#include "train/checkpoint/pins.h"

namespace starpo {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

constexpr auto state_json = "trainer-state.json";
constexpr int state_version = 1;

constexpr std::string_view partial_ending = ".partial";    // being written
constexpr std::string_view replaced_ending = ".replaced";  // moved out of the way of its successor

// checkpoints/.000050.partial
fs::path hidden(const fs::path& folder, std::string_view ending) {
  return folder.parent_path() / ("." + folder.filename().string() + std::string(ending));
}

void require(const std::error_code& error, const fs::path& path) {
  if (error) throw write_error(path, error.value());
}

// Puts a whole folder in the place of another. Whenever the process is killed, one of the two is left, under a name
// that remove_partial_files knows.
void replace_folder(const fs::path& partial, const fs::path& destination) {
  const fs::path replaced = hidden(destination, replaced_ending);
  std::error_code error, ignored;
  if (fs::exists(destination)) {
    fs::rename(destination, replaced, error);
    require(error, destination);
  }
  fs::rename(partial, destination, error);
  require(error, destination);
  fsync_directory(destination.parent_path());
  fsync_directory(destination.parent_path().parent_path());  // checkpoints/ itself may be new
  fs::remove_all(replaced, ignored);
}

// A flat tensor of trainer-state.safetensors, and where it lives.
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

// Piece by piece, so that a checkpoint takes no memory that grows with the model.
void write_state(const fs::path& file, const std::vector<StateTensor>& tensors) {
  std::vector<TensorName> names;
  for (const StateTensor& tensor : tensors) names.push_back({tensor.name, tensor.shape()});
  SafetensorsWriter writer(file, names);
  for (const StateTensor& tensor : tensors)
    copy_in_pieces(
        0, tensor.owner.size(),
        [&](std::size_t first, std::span<float> values) { tensor.owner.read(tensor.which, first, values); },
        [&](std::size_t, std::span<const float> values) { writer.write(values); });
  writer.commit();
}

// Optimiser and critic of a checkpoint whose trainer-state.json says `about`.
void read_state(const fs::path& folder, const json& about, Replica& replica) {
  const auto tensors = state_tensors_of(replica);
  SafetensorsFile file(folder / checkpoint_state_file);
  for (const StateTensor& tensor : tensors) file.check(tensor.name, tensor.shape());
  for (const StateTensor& tensor : tensors)
    copy_in_pieces(
        0, tensor.owner.size(),
        [&](std::size_t first, std::span<float> values) { file.read(tensor.name, first, values); },
        [&](std::size_t first, std::span<const float> values) { tensor.owner.write(tensor.which, first, values); });
  replica.policy->trained().set_steps(about.at("optimizer_steps").get<std::int64_t>());
  if (replica.critic) replica.critic->trained().set_steps(about.at("critic_optimizer_steps").get<std::int64_t>());
}

void write_folder(const fs::path& folder, const CheckpointParts& parts, int iteration, std::int64_t journal_seq) {
  const Network& policy = *parts.replica.policy;
  std::error_code error, ignored;
  fs::remove_all(folder, ignored);
  fs::create_directories(folder, error);
  require(error, folder);
  const auto weights = [&](std::size_t first, std::span<float> values) { policy.read_weights(first, values); };
  write_model_folder(folder, policy.layout(), ReadWeights(weights), parts.stop_ids);
  for (const auto& [name, content] : parts.published_files) write_file_atomically(folder / name, content);
  write_state(folder / checkpoint_state_file, state_tensors_of(parts.replica));
  json about{{"version", state_version},
             {"build", build_version()},
             {"iteration", iteration},
             {"optimizer_steps", parts.replica.policy->trained().steps()},
             {"seed", parts.config.seed},
             {"journal_seq", journal_seq}};
  if (parts.replica.critic) about["critic_optimizer_steps"] = parts.replica.critic->trained().steps();
  write_file_atomically(folder / state_json, about.dump(2) + "\n");
  fsync_directory(folder);
}

}  // namespace

void write_checkpoint(const fs::path& run_directory, const CheckpointParts& parts, int iteration, Journal& journal) {
  const fs::path folder = run_directory / checkpoint_path(iteration), partial = hidden(folder, partial_ending);
  std::error_code ignored;
  try {
    write_folder(partial, parts, iteration, journal.next_seq());
    // One that is written again, since it couldn't be read, stays pinned.
    if (is_checkpoint_pinned(run_directory, iteration)) write_file_atomically(partial / checkpoint_pin_file, "");
    journal.sync();
  } catch (...) {
    fs::remove_all(partial, ignored);  // on a full disk the journal needs the space, to say so
    throw;
  }

  replace_folder(partial, folder);
  journal.checkpoint(iteration, checkpoint_path(iteration));
  remove_old_states(run_directory, iteration, parts.config.checkpoint.keep, journal);
}

void remove_old_states(const fs::path& run_directory, int iteration, int keep, Journal& journal) {
  // A newer one that is still there couldn't be read: it must not count among those that are kept to resume from.
  auto with_state = resumable_checkpoints(run_directory);
  std::erase_if(with_state, [&](int other) { return other > iteration || is_checkpoint_pinned(run_directory, other); });
  std::error_code ignored;
  for (std::size_t i = static_cast<std::size_t>(keep); i < with_state.size(); ++i) {
    journal.checkpoint_state_removed(with_state[i]);
    fs::remove(run_directory / checkpoint_path(with_state[i]) / checkpoint_state_file, ignored);
  }
}

std::vector<int> resumable_checkpoints(const fs::path& run_directory) {
  std::vector<int> iterations;
  std::error_code missing;
  for (const auto& entry : folder_entries(run_directory / "checkpoints")) {
    const std::string name = entry.filename().string();
    const bool is_number = name.size() >= 6 && name.size() <= 7 &&
                           name.find_first_not_of("0123456789") == std::string::npos;  // at most 1000000
    if (is_number && fs::exists(entry / checkpoint_state_file, missing)) iterations.push_back(std::stoi(name));
  }
  std::sort(iterations.rbegin(), iterations.rend());
  return iterations;
}

void load_start_state(const fs::path& checkpoint, int iteration, Replica& replica) {
  const auto refuse = [&](const char* code, const std::string& why) {
    return Error(code, "the optimiser state of " + checkpoint.string() + " can't be kept: " + why,
                 "make the run again with start.keep_optimizer false, or from a checkpoint that has its state");
  };
  std::error_code missing;
  if (!fs::exists(checkpoint / checkpoint_state_file, missing))
    throw refuse("start_state_missing", "it is gone, as checkpoint.keep says; pinned checkpoints keep theirs");
  try {
    const auto about = json::parse(std::ifstream(checkpoint / state_json));
    if (about.at("version") != state_version || about.at("iteration") != iteration)
      throw refuse("start_state_mismatch", "trainer-state.json is of another iteration or version");
    if (replica.critic && !about.contains("critic_optimizer_steps"))
      throw refuse("start_state_mismatch", "that run had no critic, and this one has");
    read_state(checkpoint, about, replica);
  } catch (const json::exception& error) {
    throw refuse("checkpoint_corrupt", std::string("trainer-state.json: ") + error.what());
  } catch (const Error& error) {
    if (error.code().starts_with("start_state") || is_no_fault_of_checkpoint(error.code())) throw;
    throw refuse("start_state_mismatch", error.what());
  }
}

std::int64_t load_checkpoint(const fs::path& run_directory, int iteration, std::uint32_t seed, Replica& replica) {
  const fs::path folder = run_directory / checkpoint_path(iteration);
  const auto corrupt = [&](const std::string& why) {
    return Error("checkpoint_corrupt", checkpoint_path(iteration) + " can't be read: " + why,
                 "remove that folder to go on from the checkpoint before it, or start a new run");
  };
  try {
    const auto about = json::parse(std::ifstream(folder / state_json));
    if (about.at("version") != state_version || about.at("iteration") != iteration || about.at("seed") != seed)
      throw corrupt("trainer-state.json is of another run or version");
    if (!(read_model_folder_config(folder) == replica.policy->layout().config()))
      throw corrupt("the model has another shape");
    read_state(folder, about, replica);
    load_weights(folder, *replica.policy);
    return about.at("journal_seq").get<std::int64_t>();
  } catch (const json::exception& error) {
    throw corrupt(std::string("trainer-state.json: ") + error.what());
  } catch (const Error& error) {
    if (error.code() == "checkpoint_corrupt" || is_no_fault_of_checkpoint(error.code())) throw;
    throw corrupt(error.what());
  }
}

bool is_no_fault_of_checkpoint(std::string_view code) {
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
      if (name.starts_with(".") && name.ends_with(partial_ending)) partial.push_back(entry);
      if (name.starts_with(".") && name.ends_with(replaced_ending)) replaced.push_back(entry);
    }
    for (const auto& path : partial) fs::remove_all(path, ignored);
    for (const auto& path : replaced) {
      const auto name = path.filename().string();
      const auto destination = path.parent_path() / name.substr(1, name.size() - 1 - replaced_ending.size());
      if (fs::exists(destination, ignored))
        fs::remove_all(path, ignored);
      else
        fs::rename(path, destination, ignored);
    }
  }
}

}  // namespace starpo
