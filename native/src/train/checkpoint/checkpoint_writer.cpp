#include "train/checkpoint/checkpoint_writer.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/format_bytes.h"
#include "base/processor.h"
#include "files/crc32.h"
#include "files/descriptor.h"
#include "files/temporary_file.h"
#include "journal/stamp.h"
#include "model/folder.h"
#include "model/safetensors.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/state_json.h"

namespace starpo {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

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

}  // namespace

struct CheckpointWriter::Content {
  // A tensor. `read` reads its numbers from a network, or from a copy of them.
  struct Array {
    TensorName name;
    std::size_t size;
    ReadWeights read;
  };

  Content(const CheckpointParts& parts, int number)
      : iteration(number),
        keep(parts.config.checkpoint.keep),
        layout(parts.replica.policy->layout()),
        stop_ids(parts.stop_ids),
        published_files(parts.published_files),
        metadata{{"version", kStateVersion},
                 {"build", build_version()},
                 {"iteration", number},
                 {"optimizer_steps", parts.replica.policy->trained().steps()},
                 {"seed", parts.config.seed}},
        weights{{}, layout.size(), [&policy = *parts.replica.policy](std::size_t first, std::span<float> values) {
                  policy.read_weights(first, values);
                }} {
    if (parts.replay) {
      replay = parts.replay->serialize();
      metadata[kReplayChecksum] = crc32_text(crc32(*replay));
    }
    if (parts.replica.critic) metadata["critic_optimizer_steps"] = parts.replica.critic->trained().steps();
    for (const StateTensor& tensor : state_tensors_of(parts.replica))
      state.push_back(
          {{tensor.name, tensor.shape()}, tensor.owner.size(), [tensor](std::size_t first, std::span<float> values) {
             tensor.owner.read(tensor.which, first, values);
           }});
  }

  std::size_t size() const {
    std::size_t sum = weights.size;
    for (const Array& array : state) sum += array.size;
    return sum;
  }

  // Copies all numbers. Later they are read from the copy.
  void copy_to(std::span<float> memory) {
    const auto copy = [&](Array& array) {
      const std::span<float> own = memory.first(array.size);
      memory = memory.subspan(array.size);
      array.read(0, own);
      array.read = [own](std::size_t first, std::span<float> values) {
        std::ranges::copy(own.subspan(first, values.size()), values.begin());
      };
    };
    copy(weights);
    for (Array& array : state) copy(array);
  }

  // Writes all files except trainer-state.json, in chunks, so that memory use does not grow with the model.
  void write_files(const fs::path& folder) const {
    std::error_code error, ignored;
    fs::remove_all(folder, ignored);
    // One level at a time: a run folder that was moved is not created again.
    fs::create_directory(folder.parent_path(), ignored);
    fs::create_directory(folder, error);
    throw_if_failed(error, folder);
    write_model_folder(folder, layout, weights.read, stop_ids);
    for (const auto& [name, content] : published_files) write_file_atomically(folder / name, content);
    if (replay) write_file_atomically(folder / kReplayFile, *replay);
    std::vector<TensorName> names;
    for (const Array& array : state) names.push_back(array.name);
    SafetensorsWriter writer(folder / kCheckpointStateFile, names);
    for (const Array& array : state)
      copy_in_chunks(0, array.size, array.read,
                     [&](std::size_t, std::span<const float> values) { writer.write(values); });
    writer.commit();
  }

  const int iteration, keep;
  const ParameterLayout& layout;
  const std::vector<std::int32_t>& stop_ids;
  const std::map<std::string, std::string>& published_files;
  json metadata;  // trainer-state.json without journal_seq
  Array weights;
  std::vector<Array> state;
  std::optional<std::string> replay;  // the buffer as CBOR
};

CheckpointWriter::CheckpointWriter(fs::path run_directory, Journal& journal)
    : run_directory_(std::move(run_directory)), journal_(journal) {}

CheckpointWriter::~CheckpointWriter() = default;

void CheckpointWriter::start(const CheckpointParts& parts, int iteration) {
  publish();
  auto content = std::make_unique<Content>(parts, iteration);
  const fs::path partial = hidden_path(run_directory_ / checkpoint_path(iteration), kPartialSuffix);
  const bool copied = copy_to_host(*parts.replica.engine, *content);
  writing_ = std::async(copied ? std::launch::async : std::launch::deferred,
                        [content = content.get(), partial] { content->write_files(partial); });
  content_ = std::move(content);
  if (!copied) publish();
}

// Returns false if the state is in host memory already, or if a copy would leave too little host memory free.
bool CheckpointWriter::copy_to_host(Engine& engine, Content& content) {
  const std::size_t size = content.size();
  if (lacks_memory_) return false;
  if (memory_ == nullptr || memory_->values().size() != size) {
    memory_.reset();
    const auto bytes = static_cast<std::int64_t>(size * sizeof(float));
    const auto refuse = [&] {
      lacks_memory_ = true;
      journal_.warning(
          "training waits while checkpoints are written, because too little host memory is free for a "
          "copy of " +
          format_bytes(bytes));
      return false;
    };
    if (!engine.preallocates()) return false;
    if (bytes > available_memory_bytes() / 2) return refuse();
    try {
      memory_ = engine.allocate_host_memory(size);
    } catch (const std::bad_alloc&) {
      return refuse();
    }
    if (memory_ == nullptr) return false;
  }
  content.copy_to(memory_->values());
  return true;
}

void CheckpointWriter::publish_if_written() {
  if (writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) publish();
}

// Only this thread writes the journal and trainer-state.json, which contains the seq of the checkpoint's event.
void CheckpointWriter::publish() {
  const std::unique_ptr<Content> content = std::exchange(content_, nullptr);
  if (content == nullptr) return;
  const int iteration = content->iteration;
  const fs::path folder = run_directory_ / checkpoint_path(iteration), partial = hidden_path(folder, kPartialSuffix);
  std::error_code ignored;
  try {
    writing_.get();
    content->metadata["journal_seq"] = journal_.next_seq();
    write_state_json(partial, content->metadata);
    fsync_directory(partial);
    // A checkpoint that is rewritten because it was unreadable stays pinned.
    if (is_checkpoint_pinned(run_directory_, iteration)) write_file_atomically(partial / kCheckpointPinFile, "");
    journal_.sync();
  } catch (...) {
    fs::remove_all(partial, ignored);  // frees space for the journal to report a full disk
    throw;
  }

  replace_folder(partial, folder);
  journal_.checkpoint(iteration, checkpoint_path(iteration));
  remove_old_states(run_directory_, iteration, content->keep, journal_);
}

void CheckpointWriter::publish_best_effort() noexcept {
  try {
    publish();
  } catch (...) {}
}

void write_checkpoint(const fs::path& run_directory, const CheckpointParts& parts, int iteration, Journal& journal) {
  CheckpointWriter writer(run_directory, journal);
  writer.start(parts, iteration);
  writer.publish();
}

}  // namespace starpo
