#include "files/reading.h"

#include <fstream>

namespace starpo {

std::optional<std::string> read_text_file(const std::filesystem::path& path, std::uintmax_t largest) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return std::nullopt;
  const auto size = static_cast<std::uintmax_t>(file.tellg());
  if (size > largest) return std::nullopt;
  std::string content(size, '\0');
  file.seekg(0);
  file.read(content.data(), static_cast<std::streamsize>(size));
  if (!file) return std::nullopt;
  return content;
}

std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    entries.push_back(entry->path());
  return entries;
}

}  // namespace starpo
