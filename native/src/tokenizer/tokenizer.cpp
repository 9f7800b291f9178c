#include "tokenizer/tokenizer.h"

#include "base/error.h"
#include "files/reading.h"
#include "tokenizer/tokenizer_data.h"
#include "tokenizer/utf8.h"

namespace starpo {
namespace {

// Published files have about 10 MB.
constexpr std::uintmax_t kMaxTokenizerBytes = 256 << 20;

// Encodes a text in the order of Hugging Face tokenizers: added tokens of the raw text, normalization, added tokens of
// the normalized text, split, byte pairs. Invalid UTF-8 is neither normalized nor merged with its neighbors.
class Encoder {
 public:
  Encoder(const Tokenizer::Data& data, const Tokenizer::Data::Added& added) : data_(data), added_(added) {}

  std::vector<std::int32_t> encode(std::string_view text) {
    split_added(added_.verbatim, text, [&](std::string_view between) { encode_between(between); });
    return std::move(ids_);
  }

 private:
  // Appends the ids of added tokens and calls `plain` with the text between them.
  template <class Plain>
  void split_added(const AddedTokens& tokens, std::string_view text, Plain plain) {
    tokens.split(text, plain, [&](std::int32_t id) { ids_.push_back(id); });
  }

  void encode_between(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t valid = valid_utf8_length(text.substr(at));
      if (valid > 0) encode_valid(text.substr(at, valid));
      at += valid;
      const std::size_t begin = at;
      while (at < text.size() && code_point_at(text, at).value == kInvalidByte) ++at;
      if (at > begin) data_.encoding.encode(text.substr(begin, at - begin), ids_);
    }
  }

  void encode_valid(std::string_view text) {
    std::string composed;
    if (data_.normalizer == Normalizer::nfc) text = composed = to_nfc(text);
    split_added(added_.normalized, text, [&](std::string_view between) {
      pieces_.clear();
      data_.pattern.split(between, pieces_);
      for (const auto piece : pieces_) data_.encoding.encode(piece, ids_);
    });
  }

  const Tokenizer::Data& data_;
  const Tokenizer::Data::Added& added_;
  std::vector<std::string_view> pieces_;
  std::vector<std::int32_t> ids_;
};

}  // namespace

Tokenizer Tokenizer::load(const std::filesystem::path& folder) {
  const auto path = folder / "tokenizer.json";
  const auto json = read_text_file(path, kMaxTokenizerBytes);
  if (!json) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > kMaxTokenizerBytes)
      throw Error("tokenizer_invalid", path.string() + " is too large",
                  "download the file again from the model's source");
    if (!std::filesystem::exists(folder, error))
      throw Error("tokenizer_missing", "model folder " + folder.string() + " was not found",
                  "restore it, or choose another model folder or checkpoint");
    throw Error("tokenizer_missing", path.string() + " was not found or can't be read",
                "use a model folder with a tokenizer.json that you may read");
  }
  return Tokenizer(std::make_shared<Data>(parse_tokenizer(*json)));
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, SpecialTokens special) const {
  return Encoder(*data_, special == SpecialTokens::recognized ? data_->all_tokens : data_->text_tokens).encode(text);
}

std::int32_t Tokenizer::token_id(std::string_view name) const {
  const auto found = data_->ids.find(std::string(name));
  if (found == data_->ids.end())
    throw Error("tokenizer_token_missing", "the tokenizer has no token " + std::string(name),
                "use a model whose tokenizer has the ChatML tokens <|im_start|> and <|im_end|>");
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
