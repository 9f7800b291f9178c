#pragma once

#include <cstdint>
#include <filesystem>

#include "config/run_config.h"
#include "journal/journal.h"

namespace starpo {

// Removes the training episodes, with their indexes, that rollout_files no longer keeps after `iteration`. Each is said
// in the journal before its files go: a trainer that is killed in between leaves files that nobody reads, and that the
// next call finds. Files that can't be removed stay.
void remove_old_rollouts(const std::filesystem::path& run_directory, const RolloutFilesConfig&, int iteration,
                         Journal&);

// Bytes of the files in a folder and below it; those that vanish meanwhile count nothing.
std::int64_t folder_bytes(const std::filesystem::path& folder);

// Warns in the journal before a run directory grows beyond storage.budget_gigabytes, and once more when it has.
class StorageBudget {
 public:
  StorageBudget(std::filesystem::path run_directory, const StorageConfig&, Journal&);

  // Looks at the disk; for the end of an iteration. Costs nothing without a budget.
  void check();

 private:
  std::filesystem::path directory_;
  double budget_;  // bytes; 0: none
  Journal& journal_;
  bool near_told_ = false;
  bool passed_told_ = false;
};

}  // namespace starpo
