#include "files/descriptor.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace starpo {
namespace {

constexpr const char* kThen = ", then resume the run or repeat the command";

std::string hint_for(int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM: return "check who owns the file and its folder, and their permissions";
    case EROFS: return "remount the disk with write access, or move the run to another disk";
    case ENOENT:
    case ENOTDIR: return "check whether the run folder was moved or its disk disconnected";
    case EIO: return "check the disk and its connection (dmesg)";
    case EMFILE:
    case ENFILE: return "close other programs, or raise the limit on open files (ulimit -n)";
    case EISDIR:
    case EEXIST:
    case ENOTEMPTY: return "move the existing file or folder of that name";
    case ENAMETOOLONG: return "move the run to a folder with a shorter path";
    default: return "check the folder and its disk";
  }
}

}  // namespace

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

Error write_error(const std::filesystem::path& file, int error_number) {
  if (error_number == ENOSPC || error_number == EDQUOT)
    return Error("disk_full", "no disk space or quota left to write " + file.string(),
                 "free some space" + std::string(kThen));
  if (error_number == EFBIG)
    return Error("disk_full", file.string() + " reached the file size limit",
                 "raise the limit (ulimit -f), or use a file system that allows larger files" + std::string(kThen));
  if (error_number == ELOOP)
    return Error("file_unwritable", file.string() + " is a symbolic link, and the trainer does not write through links",
                 "check its target and remove the link" + std::string(kThen));
  return Error("file_unwritable", "can't write " + file.string() + ": " + std::strerror(error_number),
               hint_for(error_number) + kThen);
}

Error unhandled_error(const std::exception& exception) {
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&exception))
    return Error("file_unusable", file->what(), hint_for(file->code().value()));
  const auto* system = dynamic_cast<const std::system_error*>(&exception);
  if (system && system->code() == std::errc::resource_unavailable_try_again)
    return Error("out_of_threads", std::string("the system rejected another thread: ") + system->what(),
                 "lower threads in run.json, or raise the limit on processes (ulimit -u)");
  return Error("internal_error", exception.what(),
               "this is a bug in the trainer; please report it, with the run's trainer.log if there is one");
}

Error lock_error(const std::filesystem::path& file, int error_number) {
  return Error("lock_unavailable", "can't lock " + file.string() + ": " + std::strerror(error_number),
               "keep runs on a file system with locks; mount a network file system with locking enabled");
}

}  // namespace starpo
