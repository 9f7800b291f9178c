#include "system_calls.h"

#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>
#include <utility>

namespace {

std::mutex mutex;
std::vector<std::filesystem::path> flushed;
std::atomic<bool> no_locks = false;

}  // namespace

extern "C" int fsync(int descriptor) {
  std::error_code unknown;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), unknown);
  {
    const std::lock_guard lock(mutex);
    flushed.push_back(path);
  }
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

extern "C" int flock(int descriptor, int operation) noexcept {
  if (no_locks) {
    errno = ENOLCK;
    return -1;
  }
  return static_cast<int>(syscall(SYS_flock, descriptor, operation));
}

namespace starpo::test {

std::vector<std::filesystem::path> take_flushed() {
  const std::lock_guard lock(mutex);
  return std::exchange(flushed, {});
}

NoLocks::NoLocks() { no_locks = true; }
NoLocks::~NoLocks() { no_locks = false; }

}  // namespace starpo::test
