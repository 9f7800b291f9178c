#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// Reads files and folders that may be missing or unreadable, without throwing.
namespace starpo {

// Returns a regular file's content, or nothing if it can't be read or has more than `largest` bytes.
std::optional<std::string> read_text_file(const std::filesystem::path&, std::uintmax_t largest);

// Returns the entries of a folder in no particular order, without those that can't be read. A range-based loop over
// std::filesystem::directory_iterator would throw if the folder changes during the loop.
std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder);

}  // namespace starpo
