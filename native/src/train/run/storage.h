#pragma once

#include <cstdint>
#include <filesystem>

#include "config/run_config.h"
#include "journal/journal.h"

namespace starpo {

// Deletes the training episodes and indexes that rollout_files does not keep after `iteration`. Logs each in the
// journal before deleting its files, so files left by a killed trainer are ignored by readers and deleted by the next
// call. Ignores files that can't be deleted.
void remove_old_rollouts(const std::filesystem::path& run_directory, const RolloutFilesConfig&, int iteration,
                         Journal&);

// Returns the bytes of all files in a folder, recursively. Ignores files that are deleted during the call.
std::int64_t folder_bytes(const std::filesystem::path& folder);

// Warns once in the journal before a run directory exceeds storage.budget_gigabytes, and once after.
class StorageBudget {
 public:
  StorageBudget(std::filesystem::path run_directory, const StorageConfig&, Journal&);

  // Measures the run directory; call at the end of an iteration. Does nothing without a budget.
  void check();

 private:
  std::filesystem::path directory_;
  double budget_;  // bytes; 0: none
  Journal& journal_;
  bool near_logged_ = false;
  bool exceeded_logged_ = false;
};

}  // namespace starpo
