#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace starpo {

// Text functions of Python and Java, on valid UTF-8. Character properties come from utf8proc.

bool is_ascii(std::string_view);

std::u32string to_utf32(std::string_view);
std::u16string to_utf16(std::string_view);
std::string to_utf8(std::u32string_view);
std::string to_utf8(std::u16string_view);

// Replaces each character by its lower-case character, as Java's Character.toLowerCase.
std::string lower_characters(std::string_view);

// Python's str.lower(): also maps İ to two characters and a final Σ to ς.
std::string python_lower(std::string_view);

// Python's str.strip() without arguments.
std::string_view python_strip(std::string_view);

// Python's str.isalnum() of one character.
bool is_alphanumeric(char32_t);

bool is_letter(char32_t);

// Python's repr() of a string.
std::string python_repr(std::string_view);

std::vector<std::string> split(std::string_view text, std::string_view separator);

std::string join(const std::vector<std::string>&, std::string_view separator);

}  // namespace starpo
