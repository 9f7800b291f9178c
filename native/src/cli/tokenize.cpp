#include "cli/commands.h"

#include <iostream>

#include "base/error.h"
#include "cli/json_lines.h"
#include "tokenizer/tokenizer.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

RequestError malformed_line() {
  return {
      "malformed_line",
      R"(a line must be {"text": "..."}, optionally with "special": true to recognize special tokens, or {"ids": [...]} with integers)"};
}

Json encode(const Tokenizer& tokenizer, const Json& request) {
  const bool has_special = request.contains("special");
  if (request.size() != (has_special ? 2 : 1) || !request["text"].is_string() ||
      (has_special && !request["special"].is_boolean()))
    throw malformed_line();
  const auto special =
      has_special && request["special"].get<bool>() ? SpecialTokens::recognized : SpecialTokens::as_text;
  try {
    return {{"ids", tokenizer.encode(request["text"].get_ref<const std::string&>(), special)}};
  } catch (const Error& error) {
    throw RequestError{error.code(), error.what(), error.hint()};
  }
}

Json decode(const Tokenizer& tokenizer, const Json& request) {
  if (request.size() != 1 || !is_id_list(request["ids"])) throw malformed_line();
  return {{"text", tokenizer.decode(token_ids(request["ids"], tokenizer.vocab_size()))}};
}

}  // namespace

int tokenize_command(const std::filesystem::path& model_folder) {
  const auto tokenizer = Tokenizer::load(model_folder);
  answer_lines(std::cin, std::cout, [&](const Json& request) {
    if (request.is_object() && request.contains("text")) return encode(tokenizer, request);
    if (request.is_object() && request.contains("ids")) return decode(tokenizer, request);
    throw malformed_line();
  });
  return 0;
}

}  // namespace starpo
