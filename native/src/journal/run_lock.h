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

// trainer.lock, flocked for as long as this object lives; the kernel frees it when the process dies, however it dies.
class RunLock {
 public:
  // Errors: run_missing, run_locked (names the holder), lock_unavailable, file_unwritable.
  explicit RunLock(const std::filesystem::path& run_directory);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int descriptor_ = -1;
};

// This machine.
std::string host_name();

// Who holds the run's lock; none where nobody does. Errors: lock_unavailable.
std::optional<LockHolder> find_lock_holder(const std::filesystem::path& run_directory);

}  // namespace starpo
