#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "journal/journal.h"
#include "train/checkpoint/pins.h"
#include "train/replica/replica.h"
#include "train/update/replay_buffer.h"

namespace starpo {

// Writes and reads checkpoints/ (docs/formats/checkpoint.md).

// Contents of a checkpoint.
struct CheckpointParts {
  const RunConfig& config;
  Replica& replica;
  const std::vector<std::int32_t>& stop_ids;
  const std::map<std::string, std::string>& published_files;  // tokenizer, chat template etc., by name
  const ReplayBuffer* replay = nullptr;                       // of a run with replay
};

// Writes checkpoints/<iteration> atomically, after flushing the journal. An existing checkpoint stays until the new
// checkpoint is complete. Then removes old optimizer states. Errors: disk_full, file_unwritable.
void write_checkpoint(const std::filesystem::path& run_directory, const CheckpointParts&, int iteration, Journal&);

// Deletes the optimizer state of all but the newest `keep` checkpoints up to an iteration. Pinned checkpoints keep
// theirs and do not count. Logs each deletion in the journal first.
void remove_old_states(const std::filesystem::path& run_directory, int iteration, int keep, Journal&);

// Returns the iterations of checkpoints with optimizer state, newest first.
std::vector<int> resumable_checkpoints(const std::filesystem::path& run_directory);

// Returns the iterations of checkpoints with weights, newest first.
std::vector<int> checkpoints_with_weights(const std::filesystem::path& run_directory);

// Loads weights, optimizer and critic of a checkpoint, and the buffer of a run with replay, and checks that it belongs
// to the run with this seed. Returns the seq of its checkpoint event. After an error the replica is unusable. Errors:
// checkpoint_corrupt, and errors unrelated to the checkpoint.
std::int64_t load_checkpoint(const std::filesystem::path& run_directory, int iteration, std::uint32_t seed, Replica&,
                             ReplayBuffer* replay = nullptr);

// Loads the optimizer state from a checkpoint of the parent run, and its critic if this run has one. Errors:
// start_state_missing, start_state_mismatch, checkpoint_corrupt, and errors unrelated to the checkpoint.
void load_start_state(const std::filesystem::path& checkpoint, int iteration, Replica&);

// Returns whether an error during loading is caused by the configuration or the machine, not by the checkpoint.
bool is_unrelated_to_checkpoint(std::string_view code);

// Removes partial files of a killed trainer and restores a checkpoint that it was replacing.
void remove_partial_files(const std::filesystem::path& run_directory);

}  // namespace starpo
