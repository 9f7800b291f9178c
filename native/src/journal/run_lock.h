#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace starpo {

struct LockHolder {
  std::int64_t pid = 0;
  std::string host;
  std::int64_t started = 0;  // ms since the epoch
};

// Holds an flock on trainer.lock. The kernel releases it when the process exits for any reason.
class RunLock {
 public:
  // Errors: run_missing, run_locked (with the holder), lock_unavailable, disk_full, file_unwritable.
  explicit RunLock(const std::filesystem::path& run_directory);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int descriptor_ = -1;
};

// Returns the name of this machine.
std::string host_name();

// Returns the holder of the run's lock, or nothing if it is free. Errors: lock_unavailable.
std::optional<LockHolder> find_lock_holder(const std::filesystem::path& run_directory);

}  // namespace starpo
