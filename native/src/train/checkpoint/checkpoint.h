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

namespace starpo {

// checkpoints/ of docs/formats/checkpoint.md.

// What a checkpoint is made of.
struct CheckpointParts {
  const RunConfig& config;
  Replica& replica;
  const std::vector<std::int32_t>& stop_ids;
  const std::map<std::string, std::string>& published_files;  // tokenizer, template and the like: by name
};

// Writes checkpoints/<iteration> whole or not at all; the journal is flushed before it appears. One that is already
// there stays until the new one is whole. Then removes old states as below. Errors: disk_full, file_unwritable.
void write_checkpoint(const std::filesystem::path& run_directory, const CheckpointParts&, int iteration, Journal&);

// Takes the optimiser state away from checkpoints older than the newest `keep` up to an iteration's, but for the pinned
// ones, which don't count. Each is said in the journal before its file goes.
void remove_old_states(const std::filesystem::path& run_directory, int iteration, int keep, Journal&);

// Iterations of the checkpoints that hold an optimiser state, newest first.
std::vector<int> resumable_checkpoints(const std::filesystem::path& run_directory);

// Loads weights and optimiser of one of the run with that seed, and the critic's, and gives the seq of its checkpoint
// event; after an error the replica is unusable. Errors: checkpoint_corrupt, and those that are no fault of the
// checkpoint.
std::int64_t load_checkpoint(const std::filesystem::path& run_directory, int iteration, std::uint32_t seed, Replica&);

// Takes over the optimiser state of another run's checkpoint of an iteration, and its critic where this run has one.
// Errors: start_state_missing, start_state_mismatch, checkpoint_corrupt.
void load_start_state(const std::filesystem::path& checkpoint, int iteration, Replica&);

// Of an error met while loading one: that it lies with the configuration, or with the machine that is to go on with it.
bool is_no_fault_of_checkpoint(std::string_view code);

// Removes what a killed trainer left half written, and puts back a checkpoint that it was about to replace.
void remove_partial_files(const std::filesystem::path& run_directory);

}  // namespace starpo
