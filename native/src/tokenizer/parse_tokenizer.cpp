#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "tokenizer/tokenizer_data.h"
#include "tokenizer/utf8.h"

namespace starpo {
namespace {

using json = nlohmann::json;

constexpr std::int32_t kMaxId = 2'000'000;

[[noreturn]] void invalid(const std::string& what) {
  throw Error("tokenizer_invalid", "tokenizer.json: " + what, "download the file again from the model's source");
}

// Returns a key's value, or null if it is missing.
const json& value_of(const json& object, const char* key) {
  static const json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

std::string type_of(const json& part) {
  return part.is_object() && value_of(part, "type").is_string() ? part["type"].get<std::string>() : "";
}

[[noreturn]] void unsupported(const std::string& field, const json& value) {
  // Prints only the type of a nested object.
  auto shown = value.is_structured() ? (type_of(value).empty() ? "of an unknown type" : "of type " + type_of(value))
                                     : value.dump(-1, ' ', true);
  if (shown.size() > 80) shown = shown.substr(0, 77) + "...";
  throw Error("tokenizer_unsupported", "tokenizer.json: " + field + " is " + shown + ", which is not supported",
              "use a byte-level BPE tokenizer such as Qwen2's");
}

void require_empty(const json& object, const std::string& path, const char* key) {
  const json& value = value_of(object, key);
  if (!value.is_null() && value != false && value != "" && value != 0) unsupported(path + key, value);
}

void require_unset(const json& root, const char* key) {
  const json& value = value_of(root, key);
  if (value.is_null() || value == false) return;
  throw Error("tokenizer_unsupported",
              "tokenizer.json: " + std::string(key) + " is set, which changes the tokens of a single text",
              "set \"" + std::string(key) + "\" to null in tokenizer.json");
}

// ByteLevel that neither splits nor adds a leading space.
bool is_plain_byte_level(const json& part) {
  return type_of(part) == "ByteLevel" && value_of(part, "add_prefix_space") == false &&
         value_of(part, "use_regex") == false;
}

// Doesn't recurse, because sequences may be nested deeply.
Normalizer parse_normalizer(const json& normalizer) {
  for (const json* part = &normalizer;;) {
    if (part->is_null()) return Normalizer::none;
    if (type_of(*part) == "NFC") return Normalizer::nfc;
    const json& steps = value_of(*part, "normalizers");
    if (type_of(*part) != "Sequence" || !steps.is_array() || steps.size() > 1) unsupported("normalizer", *part);
    if (steps.empty()) return Normalizer::none;
    part = &steps.front();
  }
}

SplitPattern parse_pre_tokenizer(const json& part) {
  if (type_of(part) == "ByteLevel") {
    if (value_of(part, "add_prefix_space") != false)
      unsupported("pre_tokenizer.add_prefix_space", value_of(part, "add_prefix_space"));
    if (value_of(part, "use_regex") == false) unsupported("pre_tokenizer.use_regex", part["use_regex"]);
    return SplitPattern(kGpt2Regex);
  }
  if (type_of(part) != "Sequence") unsupported("pre_tokenizer", part);
  const json& steps = value_of(part, "pretokenizers");
  if (!steps.is_array() || steps.size() != 2 || type_of(steps[0]) != "Split" || !is_plain_byte_level(steps[1]))
    unsupported("pre_tokenizer.pretokenizers", steps);
  const json& split = steps[0];
  for (const auto& [key, required] : {std::pair{"behavior", json("Isolated")}, std::pair{"invert", json(false)}})
    if (value_of(split, key) != required)
      unsupported("pre_tokenizer.pretokenizers[0]." + std::string(key), value_of(split, key));
  const json& pattern = value_of(split, "pattern");
  if (!pattern.is_object() || !value_of(pattern, "Regex").is_string())
    unsupported("pre_tokenizer.pretokenizers[0].pattern", pattern);
  return SplitPattern(pattern["Regex"].get<std::string>());
}

// transformers writes these sections after a batched call and resets them before the next one. Padding to the longest
// text of a batch doesn't change the ids of a single text; other settings may.
void check_batch_settings(const json& root) {
  const json& padding = value_of(root, "padding");
  if (value_of(padding, "strategy") != "BatchLongest" || !value_of(padding, "pad_to_multiple_of").is_null())
    require_unset(root, "padding");
  require_unset(root, "truncation");
}

void check_supported(const json& root) {
  check_batch_settings(root);
  for (const char* key : {"post_processor", "decoder"})
    if (const json& part = value_of(root, key); !part.is_null() && type_of(part) != "ByteLevel") unsupported(key, part);
  const json& model = value_of(root, "model");
  if (!model.is_object()) invalid("model is missing");
  if (type_of(model) != "BPE") unsupported("model.type", value_of(model, "type"));
  for (const char* key :
       {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "ignore_merges"})
    require_empty(model, "model.", key);
}

// GPT-2 writes bytes as printable characters: printable Latin-1 represents itself, and the characters from U+0100
// represent the other 68 bytes.
constexpr char32_t kFirstSubstitute = 0x100;

constexpr bool represents_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

// The bytes that U+0100, U+0101, ... represent.
constexpr auto kSubstitutedBytes = [] {
  std::array<unsigned char, 68> bytes{};
  std::size_t count = 0;
  for (int byte = 0; byte < 256; ++byte)
    if (!represents_itself(byte)) bytes[count++] = static_cast<unsigned char>(byte);
  return bytes;
}();

// Decodes a vocabulary entry to bytes. Returns nothing if it has a character outside the byte alphabet.
std::optional<std::string> spelled_bytes(std::string_view entry) {
  std::string bytes;
  for (std::size_t i = 0; i < entry.size();) {
    const auto [code_point, length] = code_point_at(entry, i);
    i += length;
    if (code_point < kFirstSubstitute && represents_itself(static_cast<int>(code_point)))
      bytes += static_cast<char>(code_point);
    else if (code_point >= kFirstSubstitute && code_point < kFirstSubstitute + kSubstitutedBytes.size())
      bytes += static_cast<char>(kSubstitutedBytes[code_point - kFirstSubstitute]);
    else
      return std::nullopt;
  }
  return bytes;
}

class Parser {
 public:
  Tokenizer::Data parse(const json& root) {
    check_supported(root);
    data_.normalizer = parse_normalizer(value_of(root, "normalizer"));
    data_.pattern = parse_pre_tokenizer(value_of(root, "pre_tokenizer"));
    const json& model = root["model"];
    add_vocabulary(value_of(model, "vocab"));
    add_merges(value_of(model, "merges"));
    add_added_tokens(value_of(root, "added_tokens"));
    return std::move(data_);
  }

 private:
  static std::int32_t id_of(const std::string& spelling, const json& id) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > kMaxId)
      invalid("the id of " + spelling + " is not an integer from 0 to " + std::to_string(kMaxId));
    return id.get<std::int32_t>();
  }

  void add_token(const std::string& spelling, std::int32_t id, std::string bytes) {
    if (static_cast<std::size_t>(id) >= data_.bytes.size()) data_.bytes.resize(static_cast<std::size_t>(id) + 1);
    if (!data_.bytes[id].empty() && data_.bytes[id] != bytes)
      invalid("the id " + std::to_string(id) + " is used twice");
    data_.bytes[id] = std::move(bytes);
    data_.ids[spelling] = id;
  }

  void add_vocabulary(const json& vocabulary) {
    if (!vocabulary.is_object()) invalid("model.vocab is not an object");
    for (const auto& [spelling, value] : vocabulary.items()) {
      const std::int32_t id = id_of(spelling, value);
      auto bytes = spelled_bytes(spelling);
      if (!bytes || bytes->empty()) invalid("model.vocab has an invalid entry " + spelling);
      if (bytes->size() == 1) {
        seen_bytes_ += data_.ids.contains(spelling) ? 0 : 1;
        data_.encoding.byte_ids[static_cast<unsigned char>((*bytes)[0])] = id;
      }
      add_token(spelling, id, *bytes);
    }
    if (seen_bytes_ != 256) invalid("model.vocab does not contain all 256 bytes");
  }

  void add_merges(const json& merges) {
    if (!merges.is_array()) invalid("model.merges is not a list");
    for (const json& merge : merges) {
      std::string left, right;
      if (merge.is_string()) {
        const auto text = merge.get<std::string>();
        const auto space = text.find(' ');
        if (space == std::string::npos) invalid("model.merges has an invalid entry " + text);
        left = text.substr(0, space);
        right = text.substr(space + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        left = merge[0];
        right = merge[1];
      } else {
        invalid("model.merges has an entry that is not a pair");
      }
      data_.encoding.add_merge(vocabulary_id(left), vocabulary_id(right), vocabulary_id(left + right));
    }
  }

  std::int32_t vocabulary_id(const std::string& spelling) const {
    const auto found = data_.ids.find(spelling);
    if (found == data_.ids.end()) invalid("model.merges uses " + spelling + ", which is not in model.vocab");
    return found->second;
  }

  void add_added_tokens(const json& tokens) {
    if (tokens.is_null()) return;
    if (!tokens.is_array()) invalid("added_tokens is not a list");
    for (const json& token : tokens) {
      if (!token.is_object() || !value_of(token, "content").is_string()) invalid("added_tokens has an invalid entry");
      const auto content = token["content"].get<std::string>();
      if (content.empty()) invalid("added_tokens has an empty token");
      const std::int32_t id = id_of(content, value_of(token, "id"));
      // Hugging Face tokenizers would ignore this id and use that of the vocabulary.
      if (const auto found = data_.ids.find(content); found != data_.ids.end() && found->second != id)
        invalid(content + " has two ids: " + std::to_string(found->second) + ", and " + std::to_string(id) +
                " in added_tokens");
      add_token(content, id, content);
      const bool special = is_set(token, "special", false);
      const bool normalized = is_set(token, "normalized", !special);
      add_recognized(
          content,
          {id, is_set(token, "single_word", false), is_set(token, "lstrip", false), is_set(token, "rstrip", false)},
          special, normalized);
    }
  }

  void add_recognized(const std::string& content, const AddedToken& token, bool special, bool normalized) {
    const auto add = [&](Tokenizer::Data::Added& added) {
      if (normalized)
        added.normalized.add(data_.normalizer == Normalizer::nfc ? to_nfc(content) : content, token);
      else
        added.verbatim.add(content, token);
    };
    add(data_.all_tokens);
    if (!special) add(data_.text_tokens);
  }

  static bool is_set(const json& token, const char* key, bool fallback) {
    const json& value = value_of(token, key);
    if (value.is_null()) return fallback;
    if (!value.is_boolean()) invalid(std::string("added_tokens has a token whose ") + key + " is not true or false");
    return value.get<bool>();
  }

  Tokenizer::Data data_;
  int seen_bytes_ = 0;
};

}  // namespace

Tokenizer::Data parse_tokenizer(const std::string& json) {
  const auto root = json::parse(json, nullptr, false);
  if (!root.is_object()) invalid("not a JSON object");
  return Parser().parse(root);
}

}  // namespace starpo
