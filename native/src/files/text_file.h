#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace starpo {

// A regular file's content; nothing where it can't be read or has more bytes than `largest`.
std::optional<std::string> read_text_file(const std::filesystem::path&, std::uintmax_t largest);

}  // namespace starpo
