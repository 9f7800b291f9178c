#include "train/run/storage.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/format_bytes.h"
#include "files/reading.h"
#include "rollout/rollout_writer.h"

namespace starpo {
namespace {

namespace fs = std::filesystem;

// Share of the budget at which to warn, even if no checkpoint is due.
constexpr double kWarningShare = 0.9;

bool is_kept(const RolloutFilesConfig& keep, int iteration, int newest) {
  return keep.keep_last == 0 || iteration > newest - keep.keep_last ||
         (keep.keep_every > 0 && iteration % keep.keep_every == 0);
}

// Returns the iteration of 000012-train.jsonl.zst or 000012-train.index.json, or nothing for other files.
std::optional<int> training_iteration(const std::string& name) {
  int iteration = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), iteration);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view rest(end, name.data() + name.size() - end);
  if (rest != "-train.jsonl.zst" && rest != "-train.index.json") return std::nullopt;
  return iteration;
}

// Estimates the size of the next checkpoint: the size of the largest one.
std::int64_t next_checkpoint_bytes(const fs::path& run_directory) {
  std::int64_t largest = 0;
  for (const auto& entry : folder_entries(run_directory / "checkpoints"))
    largest = std::max(largest, folder_bytes(entry));
  return largest;
}

}  // namespace

void remove_old_rollouts(const fs::path& run_directory, const RolloutFilesConfig& keep, int iteration,
                         Journal& journal) {
  if (keep.keep_last == 0) return;
  std::map<int, std::vector<fs::path>> old;
  std::error_code ignored;
  for (const auto& entry : folder_entries(run_directory / "rollouts")) {
    const auto written = training_iteration(entry.filename().string());
    if (written && !is_kept(keep, *written, iteration)) old[*written].push_back(entry);
  }
  for (const auto& [written, files] : old) {
    journal.rollout_removed(written, "train");
    for (const auto& file : files) fs::remove(file, ignored);
  }
}

std::int64_t folder_bytes(const fs::path& folder) {
  std::int64_t bytes = 0;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    if (!entry->is_regular_file(gone)) continue;
    const auto size = entry->file_size(gone);
    if (!gone) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

StorageBudget::StorageBudget(fs::path run_directory, const StorageConfig& config, Journal& journal)
    : directory_(std::move(run_directory)), budget_(config.budget_gigabytes * 1e9), journal_(journal) {}

void StorageBudget::check() {
  if (budget_ == 0 || exceeded_logged_) return;
  const std::int64_t bytes = folder_bytes(directory_);
  const auto used = static_cast<double>(bytes);
  const std::string usage =
      format_bytes(bytes) + " of its storage budget of " + format_bytes(static_cast<std::int64_t>(budget_));
  if (used > budget_) {
    journal_.warning("the run exceeds its storage budget: it uses " + usage +
                     "; stop it, then free space on the History page");
    exceeded_logged_ = true;
  } else if (!near_logged_ && (used > kWarningShare * budget_ ||
                               used + static_cast<double>(next_checkpoint_bytes(directory_)) > budget_)) {
    journal_.warning("the run uses " + usage +
                     "; the next checkpoint may exceed it: stop the run, then free space on the History page, or set "
                     "rollout_files.keep_last or a larger checkpoint.every in the next run");
    near_logged_ = true;
  }
}

}  // namespace starpo
