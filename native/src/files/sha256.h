#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace starpo {

// Returns the SHA-256 digest (FIPS 180-4) as 64 lower-case hex digits.
std::string sha256(std::string_view bytes);

// Returns the digest of a file's content. Errors: file_unreadable.
std::string sha256_of_file(const std::filesystem::path&);

}  // namespace starpo
