#pragma once

#include <string>
#include <string_view>

namespace starpo {

enum class Normalizer { none, nfc };

// Valid UTF-8 in Unicode's canonical composition (NFC, UAX 15), of the Unicode version that utf8proc knows.
std::string to_nfc(std::string_view text);

}  // namespace starpo
