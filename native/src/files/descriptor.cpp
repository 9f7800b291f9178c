#include "files/descriptor.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace starpo {

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
    return Error("disk_full", "no space left on the disk to write " + file.string(),
                 "free some space, then resume the run");
  if (error_number == EFBIG)
    return Error("disk_full", file.string() + " reached the file size limit",
                 "raise the limit (ulimit -f), then resume the run");
  if (error_number == ELOOP)
    return Error("file_unwritable", file.string() + " is a symbolic link, and the trainer does not write through links",
                 "check its target, remove the link, then resume the run");
  return Error("file_unwritable", "can't write " + file.string() + ": " + std::strerror(error_number),
               "check that the folder exists, and its permissions, then resume the run");
}

Error lock_error(const std::filesystem::path& file, int error_number) {
  return Error("lock_unavailable", "can't lock " + file.string() + ": " + std::strerror(error_number),
               "keep runs on a file system with locks; mount a network file system with locking enabled");
}

}  // namespace starpo
