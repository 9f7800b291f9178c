#include "tokenizer/tokenizer.h"

#include <fstream>
#include <iterator>

#include "base/error.h"
#include "tokenizer/tokenizer_data.h"

namespace starpo {

Tokenizer Tokenizer::load(const std::filesystem::path& folder) {
  const auto path = folder / "tokenizer.json";
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  if (!file || !std::filesystem::is_regular_file(path, error))
    throw Error("tokenizer_missing", "there is no tokenizer " + path.string(), "use a model folder that holds a tokenizer.json");
  return Tokenizer(std::make_shared<Data>(parse_tokenizer({std::istreambuf_iterator<char>(file), {}})));
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  const auto encode_plain = [&](std::string_view plain) {
    for (const auto piece : split_text(plain, data_->pattern)) data_->encoding.encode(piece, ids);
  };
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Data::TextToken* found = nullptr;
    for (const auto& token : data_->text_tokens)
      if (text.substr(at).starts_with(token.content)) {
        found = &token;
        break;
      }
    if (!found) {
      ++at;
      continue;
    }
    encode_plain(text.substr(begin, at - begin));
    ids.push_back(found->id);
    at += found->content.size();
    begin = at;
  }
  encode_plain(text.substr(begin));
  return ids;
}

std::int32_t Tokenizer::token_id(std::string_view name) const {
  const auto found = data_->ids.find(std::string(name));
  if (found == data_->ids.end())
    throw Error("tokenizer_token_missing", "the tokenizer has no token " + std::string(name), "use a model whose tokenizer has it: ChatML tokens, and <think> or <answer>");
  return found->second;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const auto id : ids)
    if (id >= 0 && id < vocab_size()) text += data_->bytes[id];
  return text;
}

int Tokenizer::vocab_size() const { return static_cast<int>(data_->bytes.size()); }

}  // namespace starpo
