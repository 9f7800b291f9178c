#include "files/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "files/descriptor.h"

namespace starpo {

TemporaryFile::TemporaryFile(std::filesystem::path destination)
    : destination_(std::move(destination)),
      temporary_(destination_.parent_path() / ("." + destination_.filename().string() + ".partial")) {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw write_error(temporary_, errno);
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void TemporaryFile::write(std::string_view bytes) {
  if (const int error = write_all(descriptor_, bytes)) throw write_error(temporary_, error);
}

void TemporaryFile::overwrite_start(std::string_view bytes) {
  if (::lseek(descriptor_, 0, SEEK_SET) < 0) throw write_error(temporary_, errno);
  write(bytes);
}

void TemporaryFile::commit() {
  if (::fsync(descriptor_) != 0) throw write_error(temporary_, errno);
  if (::rename(temporary_.c_str(), destination_.c_str()) != 0) throw write_error(destination_, errno);
  ::close(descriptor_);
  descriptor_ = -1;
  fsync_directory(destination_.parent_path());
}

void write_file_atomically(const std::filesystem::path& destination, std::string_view content) {
  TemporaryFile file(destination);
  file.write(content);
  file.commit();
}

void fsync_directory(const std::filesystem::path& folder) {
  const auto& path = folder.empty() ? std::filesystem::path(".") : folder;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw write_error(path, errno);
  // Some network file systems don't support fsync of a folder (EINVAL).
  const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  ::close(descriptor);
  if (error) throw write_error(path, error);
}

}  // namespace starpo
