#include "files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace starpo {
namespace {

Error mapping_error(const std::filesystem::path& file, int error_number) {
  return Error("file_unreadable", "can't read " + file.string() + ": " + std::strerror(error_number),
               "check that it is a regular file and that you may read it");
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw mapping_error(file, errno);
  struct stat status{};
  int error_number = ::fstat(descriptor, &status) < 0 ? errno : S_ISREG(status.st_mode) ? 0 : EISDIR;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (error_number == 0 && size > 0) {
    void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED)
      error_number = errno;
    else
      bytes_ = {static_cast<const char*>(memory), size};
  }
  ::close(descriptor);
  if (error_number != 0) throw mapping_error(file, error_number);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace starpo
