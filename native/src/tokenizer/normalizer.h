#pragma once

#include <string>
#include <string_view>

namespace starpo {

enum class Normalizer { none, nfc };

// Normalizes valid UTF-8 to NFC (UAX 15), in the Unicode version of utf8proc.
std::string to_nfc(std::string_view text);

}  // namespace starpo
