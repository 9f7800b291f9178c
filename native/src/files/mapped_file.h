#pragma once

#include <filesystem>
#include <string_view>

namespace starpo {

// A file mapped into memory for reading. Memory is used only for the parts that are read, and the system can reclaim
// it.
class MappedFile {
 public:
  // Errors: file_unreadable.
  explicit MappedFile(const std::filesystem::path&);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Starts at a page, so that any type is aligned.
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace starpo
