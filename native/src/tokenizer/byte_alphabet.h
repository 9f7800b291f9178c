#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace starpo {

// GPT-2's way to spell bytes as printable characters in a vocabulary: printable Latin-1 stands for itself, the other 68 bytes for U+0100 on.

// The bytes that a vocabulary entry spells; nothing where it holds a character outside the alphabet.
std::optional<std::string> spelled_bytes(std::string_view entry);

}  // namespace starpo
