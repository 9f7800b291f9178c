#include "tokenizer/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

namespace starpo {
namespace {

// NFC does not change characters below U+0300. Only their UTF-8 has no byte above 0xCB.
bool is_trivially_composed(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0xCC; });
}

// U+11A7, an old Korean vowel that composes with nothing. utf8proc up to 2.8 treats it as a trailing consonant and
// drops it, so the text is split before it.
constexpr std::string_view kOldKoreanVowel = "\xE1\x86\xA7";

void append_composed(std::string_view text, std::string& result) {
  utf8proc_uint8_t* composed = nullptr;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &composed, options);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(composed, &std::free);
  if (length == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (length < 0) throw std::logic_error(std::string("to_nfc: ") + utf8proc_errmsg(length));
  result.append(reinterpret_cast<const char*>(composed), static_cast<std::size_t>(length));
}

}  // namespace

std::string to_nfc(std::string_view text) {
  if (is_trivially_composed(text)) return std::string(text);
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(kOldKoreanVowel, begin + 1), text.size());
    append_composed(text.substr(begin, end - begin), result);
    begin = end;
  }
  return result;
}

}  // namespace starpo
