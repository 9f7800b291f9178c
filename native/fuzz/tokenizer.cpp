#include "tokenizer/tokenizer.h"

#include <optional>

#include "targets.h"
#include "temporary_folder.h"

namespace starpo::fuzz {
namespace {

constexpr std::string_view kText = "I'll go down 12 steps.\n\n\t<think>größer</think> \xF0\x9F\x8E\x92\xFF<|im_end|>  ";

// Replaces an empty vocabulary with all bytes. A fuzzer is unlikely to find those kilobytes.
std::string with_vocabulary(std::string_view input) {
  static const std::string mark = "\"vocab\":{}";
  static const std::string bytes = [] {
    std::string entries;
    int other = 256;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
      const int code = printable ? byte : other++;
      entries += (byte == 0 ? "\"" : ",\"");
      if (code == '"' || code == '\\') entries += '\\';
      if (code < 0x80)
        entries += static_cast<char>(code);
      else
        entries += {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
      entries += "\":" + std::to_string(byte);
    }
    return entries;
  }();
  std::string whole(input);
  if (const auto at = whole.find(mark); at != std::string::npos) whole.insert(at + mark.size() - 1, bytes);
  return whole;
}

}  // namespace

// The input is a tokenizer.json. `"vocab":{}` is replaced by the vocabulary of all bytes.
void tokenizer(std::string_view input) {
  static const TemporaryFolder folder;
  write_text(folder.path() / "tokenizer.json", with_vocabulary(input));
  std::optional<Tokenizer> loaded;
  if (!succeeds([&] { loaded = Tokenizer::load(folder.path()); })) return;
  const auto ids = loaded->encode(kText);
  for (const auto id : ids) require(id >= 0 && id < loaded->vocab_size(), "encoded ids are in the vocabulary");
  loaded->decode(ids);
}

}  // namespace starpo::fuzz
