#pragma once

#include <filesystem>
#include <string_view>

namespace starpo {

// A file that is written beside its destination under the name .<name>.partial and takes its name only by commit(). Not
// committed, it is removed. Errors of all members: disk_full, file_unwritable.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path destination);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view bytes);

  // Flushes to disk (fsync), renames, flushes the folder.
  void commit();

 private:
  std::filesystem::path destination_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

// The whole content at once, durably. Errors: disk_full, file_unwritable.
void write_file_atomically(const std::filesystem::path& destination, std::string_view content);

// Makes renames within the folder durable.
void fsync_directory(const std::filesystem::path& folder);

}  // namespace starpo
