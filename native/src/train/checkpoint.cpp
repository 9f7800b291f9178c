#include "train/checkpoint.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "files/temporary_file.h"
#include "model/folder.h"

namespace starpo {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

constexpr auto state_tensors = "trainer-state.safetensors";
constexpr auto state_json = "trainer-state.json";

void copy_tokenizer(const fs::path& from, const fs::path& to) {
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
    if (!fs::exists(from / name)) continue;
    std::ifstream source(from / name, std::ios::binary);
    write_file_atomically(to / name, std::string(std::istreambuf_iterator<char>(source), {}));
  }
}

void write_optimizer(const fs::path& folder, const AdamW& optimizer) {
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(optimizer.first_moment.size())};
  const std::array<NamedTensor, 2> tensors{NamedTensor{"optimizer.first_moment", shape, optimizer.first_moment},
                                           NamedTensor{"optimizer.second_moment", shape, optimizer.second_moment}};
  write_safetensors(folder / state_tensors, tensors);
}

void read_optimizer(const fs::path& folder, AdamW& optimizer) {
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(optimizer.first_moment.size())};
  const std::array<TensorDestination, 2> tensors{TensorDestination{"optimizer.first_moment", shape, optimizer.first_moment},
                                                 TensorDestination{"optimizer.second_moment", shape, optimizer.second_moment}};
  read_safetensors(folder / state_tensors, tensors);
}

}  // namespace

std::string checkpoint_path(int iteration) {
  char name[32];
  std::snprintf(name, sizeof name, "checkpoints/%06d", iteration);
  return name;
}

void write_checkpoint(const fs::path& run_directory, const TrainerState& state, int iteration, const fs::path& tokenizer_folder, Journal& journal) {
  const fs::path final_folder = run_directory / checkpoint_path(iteration);
  const fs::path partial = final_folder.parent_path() / ("." + final_folder.filename().string() + ".partial");
  std::error_code ignored;
  fs::remove_all(partial, ignored);
  fs::create_directories(partial);

  write_model_folder(partial, state.model.layout(), state.model.weights(), state.chat.turn_end());
  copy_tokenizer(tokenizer_folder, partial);
  write_optimizer(partial, state.optimizer);
  const json about{{"version", 1}, {"iteration", iteration}, {"optimizer_steps", state.optimizer.steps}, {"seed", state.config.seed}, {"journal_seq", journal.next_seq()}};
  write_file_atomically(partial / state_json, about.dump(2) + "\n");
  fsync_directory(partial);
  journal.sync();

  // A resumed run comes by here again: what it writes is equal, so the old one may go.
  fs::remove_all(final_folder, ignored);
  fs::rename(partial, final_folder);
  fsync_directory(final_folder.parent_path());
  journal.checkpoint(iteration, checkpoint_path(iteration));

  const auto with_state = resumable_checkpoints(run_directory);
  for (std::size_t i = state.config.checkpoint.keep; i < with_state.size(); ++i) fs::remove(run_directory / checkpoint_path(with_state[i]) / state_tensors, ignored);
}

std::vector<int> resumable_checkpoints(const fs::path& run_directory) {
  std::vector<int> iterations;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(run_directory / "checkpoints", missing)) {
    const std::string name = entry.path().filename().string();
    if (name.size() == 6 && std::all_of(name.begin(), name.end(), [](unsigned char c) { return c >= '0' && c <= '9'; }) && fs::exists(entry.path() / state_tensors))
      iterations.push_back(std::stoi(name));
  }
  std::sort(iterations.rbegin(), iterations.rend());
  return iterations;
}

void load_checkpoint(const fs::path& run_directory, int iteration, TrainerState& state) {
  const fs::path folder = run_directory / checkpoint_path(iteration);
  const auto corrupt = [&](const std::string& why) {
    return Error("checkpoint_corrupt", checkpoint_path(iteration) + " can't be read: " + why, "remove that folder to go on from the checkpoint before it, or start a new run");
  };
  try {
    const auto about = json::parse(std::ifstream(folder / state_json));
    if (about.at("version") != 1 || about.at("iteration") != iteration || about.at("seed") != state.config.seed) throw corrupt("trainer-state.json is of another run or version");
    if (!(read_model_folder_config(folder) == state.model.layout().config())) throw corrupt("the model has another shape");
    const auto weights = read_model_folder_weights(folder, state.model.layout());
    read_optimizer(folder, state.optimizer);
    state.optimizer.steps = about.at("optimizer_steps").get<std::int64_t>();
    std::copy(weights.begin(), weights.end(), state.model.mutable_weights().begin());
    state.model.weights_changed();
  } catch (const json::exception& error) {
    throw corrupt(std::string("trainer-state.json: ") + error.what());
  } catch (const Error& error) {
    if (error.code() == "checkpoint_corrupt") throw;
    throw corrupt(error.what());
  }
}

void remove_partial_files(const fs::path& run_directory) {
  for (const char* folder : {"checkpoints", "rollouts"}) {
    std::error_code missing;
    std::vector<fs::path> partial;
    for (const auto& entry : fs::directory_iterator(run_directory / folder, missing)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(".") && name.ends_with(".partial")) partial.push_back(entry.path());
    }
    for (const auto& path : partial) fs::remove_all(path, missing);
  }
}

}  // namespace starpo
