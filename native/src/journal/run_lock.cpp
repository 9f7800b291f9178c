#include "journal/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "files/descriptor.h"
#include "journal/stamp.h"

namespace starpo {
namespace {

constexpr auto kLockName = "trainer.lock";

std::string read_text(int descriptor) {
  char buffer[1024];
  const auto size = ::pread(descriptor, buffer, sizeof buffer, 0);
  return size > 0 ? std::string(buffer, static_cast<std::size_t>(size)) : "";
}

// Parses the lock file. Fields are zero until the holder has written it.
LockHolder parse_holder(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  LockHolder holder;
  if (!json.is_object()) return holder;
  if (const auto found = json.find("pid"); found != json.end() && found->is_number_integer()) holder.pid = *found;
  if (const auto found = json.find("host"); found != json.end() && found->is_string()) holder.host = *found;
  if (const auto found = json.find("started"); found != json.end() && found->is_number_integer())
    holder.started = *found;
  return holder;
}

// Retries, since find_lock_holder briefly takes the lock. Returns 0 or errno: EWOULDBLOCK if another process
// holds the lock.
int lock_with_retries(int descriptor) {
  for (int attempt = 0; attempt < 25; ++attempt) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno != EWOULDBLOCK && errno != EINTR) return errno;  // a file system without locks
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return EWOULDBLOCK;
}

}  // namespace

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

RunLock::RunLock(const std::filesystem::path& run_directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(run_directory, error))
    throw Error("run_missing", "run directory " + run_directory.string() + " was not found",
                "check the path, or create a run with `starpo new PRESET`");
  const auto path = run_directory / kLockName;
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw write_error(path, errno);
  if (const int error = lock_with_retries(descriptor_)) {
    const auto holder = parse_holder(read_text(descriptor_));
    ::close(descriptor_);
    if (error != EWOULDBLOCK) throw lock_error(path, error);
    throw Error("run_locked",
                "another trainer is running in " + run_directory.string() +
                    (holder.pid == 0 ? "" : " (process " + std::to_string(holder.pid) + " on " + holder.host + ")"),
                "stop that trainer, or wait until it has finished");
  }
  const auto text =
      nlohmann::ordered_json{{"pid", ::getpid()}, {"host", host_name()}, {"started", milliseconds_since_epoch()}}
          .dump() +
      "\n";
  int failure = ::ftruncate(descriptor_, 0) == 0 ? write_all(descriptor_, text) : errno;
  if (failure) {
    ::close(descriptor_);
    throw write_error(path, failure);
  }
}

RunLock::~RunLock() { ::close(descriptor_); }

std::optional<LockHolder> find_lock_holder(const std::filesystem::path& run_directory) {
  const int descriptor = ::open((run_directory / kLockName).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::optional<LockHolder> holder;
  const int error = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0 ? 0 : errno;
  if (error == EWOULDBLOCK) holder = parse_holder(read_text(descriptor));
  ::close(descriptor);
  if (error != 0 && error != EWOULDBLOCK) throw lock_error(run_directory / kLockName, error);
  return holder;
}

}  // namespace starpo
