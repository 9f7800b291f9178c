#include "env/webshop/unicode_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "tokenizer/utf8.h"

namespace starpo {
namespace {

utf8proc_category_t category_of(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

char32_t lower_character(char32_t c) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

void append_utf8(std::string& text, char32_t c) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F) || c == 0x85 ||
         (c >= 0x20 && c <= 0x10FFFF &&
          (category_of(c) == UTF8PROC_CATEGORY_ZS || category_of(c) == UTF8PROC_CATEGORY_ZL ||
           category_of(c) == UTF8PROC_CATEGORY_ZP));
}

bool is_cased(char32_t c) {
  const auto category = category_of(c);
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT;
}

bool is_case_ignorable(char32_t c) {
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default:
      return std::u32string_view(U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027").find(c) !=
             std::u32string_view::npos;
  }
}

// Returns whether a Σ ends a word: a cased character precedes it and none follows.
bool is_final_sigma(const std::u32string& text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  std::size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return before > 0 && is_cased(text[before - 1]) && !(after < text.size() && is_cased(text[after]));
}

bool is_printable(char32_t c) {
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return c == U' ';
    default: return true;
  }
}

std::string ascii_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return result;
}

}  // namespace

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::u32string to_utf32(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto [value, length] = code_point_at(text, at);
    result.push_back(value == kInvalidByte ? U'\uFFFD' : value);
    at += length;
  }
  return result;
}

std::u16string to_utf16(std::string_view text) {
  std::u16string result;
  result.reserve(text.size());
  for (const char32_t c : to_utf32(text)) {
    if (c > 0xFFFF) {
      result.push_back(static_cast<char16_t>(0xD800 + ((c - 0x10000) >> 10)));
      result.push_back(static_cast<char16_t>(0xDC00 + ((c - 0x10000) & 0x3FF)));
    } else {
      result.push_back(static_cast<char16_t>(c));
    }
  }
  return result;
}

std::string to_utf8(std::u32string_view text) {
  std::string result;
  for (const char32_t c : text) append_utf8(result, c);
  return result;
}

std::string to_utf8(std::u16string_view text) {
  std::u32string characters;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t unit = text[i];
    const bool pair = unit >= 0xD800 && unit < 0xDC00 && i + 1 < text.size();
    characters.push_back(pair ? 0x10000 + ((unit - 0xD800) << 10) + (text[++i] - 0xDC00) : unit);
  }
  return to_utf8(characters);
}

std::string lower_characters(std::string_view text) {
  if (is_ascii(text)) return ascii_lower(text);
  std::u32string characters = to_utf32(text);
  for (char32_t& c : characters) c = lower_character(c);
  return to_utf8(characters);
}

std::string python_lower(std::string_view text) {
  if (is_ascii(text)) return ascii_lower(text);
  const std::u32string characters = to_utf32(text);
  std::string result;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const char32_t c = characters[i];
    if (c == U'\u0130')
      result += "i\u0307";
    else if (c == U'\u03A3' && is_final_sigma(characters, i))
      result += "\u03C2";
    else
      append_utf8(result, lower_character(c));
  }
  return result;
}

std::string_view python_strip(std::string_view text) {
  while (!text.empty()) {
    const auto [value, length] = code_point_at(text, 0);
    if (!is_python_space(value)) break;
    text.remove_prefix(length);
  }
  while (!text.empty()) {
    const auto [value, length] = code_point_before(text, text.size());
    if (!is_python_space(value)) break;
    text.remove_suffix(length);
  }
  return text;
}

bool is_letter(char32_t c) {
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return true;
    default: return false;
  }
}

bool is_alphanumeric(char32_t c) {
  const auto category = category_of(c);
  return is_letter(c) || category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_NO;
}

std::string python_repr(std::string_view text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string result(1, quote);
  for (const char32_t c : to_utf32(text)) {
    constexpr char digits[] = "0123456789abcdef";
    const auto escape = [&](char kind, int width) {
      result += {'\\', kind};
      for (int shift = 4 * (width - 1); shift >= 0; shift -= 4) result += digits[c >> shift & 0xF];
    };
    if (c == static_cast<char32_t>(quote) || c == U'\\')
      result += {'\\', static_cast<char>(c)};
    else if (c == U'\n')
      result += "\\n";
    else if (c == U'\r')
      result += "\\r";
    else if (c == U'\t')
      result += "\\t";
    else if (is_printable(c))
      append_utf8(result, c);
    else if (c <= 0xFF)
      escape('x', 2);
    else if (c <= 0xFFFF)
      escape('u', 4);
    else
      escape('U', 8);
  }
  return result + quote;
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) result += separator;
    result += parts[i];
  }
  return result;
}

}  // namespace starpo
