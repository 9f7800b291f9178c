#pragma once

#include <filesystem>
#include <string_view>

namespace starpo {

// A file written next to its destination as .<name>.partial and renamed by commit(). The destructor removes it if it
// was not committed. Errors of all members: disk_full, file_unwritable.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path destination);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view bytes);

  // Replaces bytes at the start of the file.
  void overwrite_start(std::string_view bytes);

  // Flushes to disk (fsync), renames the file and flushes the folder.
  void commit();

 private:
  std::filesystem::path destination_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

// Replaces a file's content atomically and durably. Errors: disk_full, file_unwritable.
void write_file_atomically(const std::filesystem::path& destination, std::string_view content);

// Makes renames within the folder durable.
void fsync_directory(const std::filesystem::path& folder);

}  // namespace starpo
