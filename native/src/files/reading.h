#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// Reading what may be gone, or not ours to read: neither of these throws for it.
namespace starpo {

// A regular file's content; nothing where it can't be read or has more bytes than `largest`.
std::optional<std::string> read_text_file(const std::filesystem::path&, std::uintmax_t largest);

// What lies in a folder, in no order; what can't be read, or is gone meanwhile, is left out. A
// std::filesystem::directory_iterator in a range-based loop throws where it meets that after its beginning.
std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder);

}  // namespace starpo
