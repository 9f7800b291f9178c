#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/tokenizer_data.h"

namespace starpo {
namespace {

using Json = nlohmann::json;

constexpr std::int32_t largest_id = 10'000'000;

[[noreturn]] void invalid(const std::string& what) {
  throw Error("tokenizer_invalid", "tokenizer.json: " + what, "take the file again from where the model came from");
}

// A key's value, null where it is absent.
const Json& value_of(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

std::string type_of(const Json& part) { return part.is_object() && value_of(part, "type").is_string() ? part["type"].get<std::string>() : ""; }

[[noreturn]] void unsupported(const std::string& field, const Json& value) {
  // A part is named by its type; what is nested deeper isn't printed.
  auto shown = value.is_structured() ? (type_of(value).empty() ? "of an unknown form" : "of type " + type_of(value)) : value.dump(-1, ' ', true);
  if (shown.size() > 80) shown = shown.substr(0, 77) + "...";
  throw Error("tokenizer_unsupported", "tokenizer.json: " + field + " is " + shown + ", which this trainer can't follow exactly",
              "use a byte-level BPE tokenizer such as Qwen2's without normalizer");
}

void require_empty(const Json& object, const std::string& path, const char* key) {
  const Json& value = value_of(object, key);
  if (!value.is_null() && value != false && value != "") unsupported(path + key, value);
}

// ByteLevel without own splitting and without a space put in front.
bool is_plain_byte_level(const Json& part) {
  return type_of(part) == "ByteLevel" && value_of(part, "add_prefix_space") == false && value_of(part, "use_regex") == false;
}

SplitPattern parse_pre_tokenizer(const Json& part) {
  if (type_of(part) == "ByteLevel") {
    if (value_of(part, "add_prefix_space") != false) unsupported("pre_tokenizer.add_prefix_space", value_of(part, "add_prefix_space"));
    if (value_of(part, "use_regex") == false) unsupported("pre_tokenizer.use_regex", part["use_regex"]);
    return SplitPattern::gpt2;
  }
  if (type_of(part) != "Sequence") unsupported("pre_tokenizer", part);
  const Json& steps = value_of(part, "pretokenizers");
  if (!steps.is_array() || steps.size() != 2 || type_of(steps[0]) != "Split" || !is_plain_byte_level(steps[1])) unsupported("pre_tokenizer.pretokenizers", steps);
  const Json& split = steps[0];
  if (value_of(split, "behavior") != "Isolated" || value_of(split, "invert") != false) unsupported("pre_tokenizer.pretokenizers[0].behavior", split);
  if (value_of(split, "pattern") != Json{{"Regex", qwen2_regex}}) unsupported("pre_tokenizer.pretokenizers[0].pattern", value_of(split, "pattern"));
  return SplitPattern::qwen2;
}

void check_supported(const Json& root) {
  for (const char* key : {"truncation", "padding", "normalizer"}) require_empty(root, "", key);
  for (const char* key : {"post_processor", "decoder"})
    if (const Json& part = value_of(root, key); !part.is_null() && type_of(part) != "ByteLevel") unsupported(key, part);
  const Json& model = value_of(root, "model");
  if (!model.is_object()) invalid("model is missing");
  if (type_of(model) != "BPE") unsupported("model.type", value_of(model, "type"));
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "ignore_merges"}) require_empty(model, "model.", key);
}

class Parser {
 public:
  Tokenizer::Data parse(const Json& root) {
    check_supported(root);
    data_.pattern = parse_pre_tokenizer(value_of(root, "pre_tokenizer"));
    const Json& model = root["model"];
    add_vocabulary(value_of(model, "vocab"));
    add_merges(value_of(model, "merges"));
    add_added_tokens(value_of(root, "added_tokens"));
    return std::move(data_);
  }

 private:
  void add_token(const std::string& spelling, std::int32_t id, std::string bytes) {
    if (id < 0 || id > largest_id) invalid("the id of " + spelling + " is out of range");
    if (static_cast<std::size_t>(id) >= data_.bytes.size()) data_.bytes.resize(static_cast<std::size_t>(id) + 1);
    if (!data_.bytes[id].empty() && data_.bytes[id] != bytes) invalid("the id " + std::to_string(id) + " is used twice");
    data_.bytes[id] = std::move(bytes);
    data_.ids[spelling] = id;
  }

  void add_vocabulary(const Json& vocabulary) {
    if (!vocabulary.is_object()) invalid("model.vocab is no object");
    for (const auto& [spelling, id] : vocabulary.items()) {
      auto bytes = spelled_bytes(spelling);
      if (!bytes || bytes->empty() || !id.is_number_integer()) invalid("model.vocab has a bad entry " + spelling);
      if (bytes->size() == 1) {
        seen_bytes_ += data_.ids.contains(spelling) ? 0 : 1;
        data_.encoding.byte_ids[static_cast<unsigned char>((*bytes)[0])] = id;
      }
      add_token(spelling, id, *bytes);
    }
    if (seen_bytes_ != 256) invalid("model.vocab lacks some single bytes");
  }

  void add_merges(const Json& merges) {
    if (!merges.is_array()) invalid("model.merges is no list");
    for (const Json& merge : merges) {
      std::string left, right;
      if (merge.is_string()) {
        const auto text = merge.get<std::string>();
        const auto space = text.find(' ');
        if (space == std::string::npos) invalid("model.merges has a bad entry " + text);
        left = text.substr(0, space);
        right = text.substr(space + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        left = merge[0];
        right = merge[1];
      } else {
        invalid("model.merges has an entry that is no pair");
      }
      data_.encoding.add_merge(known(left), known(right), known(left + right));
    }
  }

  std::int32_t known(const std::string& spelling) const {
    const auto found = data_.ids.find(spelling);
    if (found == data_.ids.end()) invalid("model.merges names " + spelling + ", which isn't in model.vocab");
    return found->second;
  }

  void add_added_tokens(const Json& tokens) {
    if (tokens.is_null()) return;
    if (!tokens.is_array()) invalid("added_tokens is no list");
    for (const Json& token : tokens) {
      if (!token.is_object() || !value_of(token, "content").is_string() || !value_of(token, "id").is_number_integer()) invalid("added_tokens has a bad entry");
      const auto content = token["content"].get<std::string>();
      if (content.empty()) invalid("added_tokens has an empty token");
      add_token(content, token["id"], content);
      if (value_of(token, "special") == true) continue;
      for (const char* key : {"single_word", "lstrip", "rstrip"}) require_empty(token, "added_tokens." + content + ".", key);
      data_.text_tokens.push_back({content, token["id"]});
    }
    std::stable_sort(data_.text_tokens.begin(), data_.text_tokens.end(), [](const auto& a, const auto& b) { return a.content.size() > b.content.size(); });
  }

  Tokenizer::Data data_;
  int seen_bytes_ = 0;
};

}  // namespace

Tokenizer::Data parse_tokenizer(const std::string& json) {
  const auto root = Json::parse(json, nullptr, false);
  if (!root.is_object()) invalid("it is no JSON object");
  return Parser().parse(root);
}

}  // namespace starpo
