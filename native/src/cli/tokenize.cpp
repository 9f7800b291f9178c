#include "cli/commands.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tokenizer/tokenizer.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

Json refused(const std::string& code, const std::string& message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

Json no_text_or_ids() {
  return refused(
      "malformed_line",
      R"(a line is {"text": "..."}, with "special": true where special tokens are to be recognised, or {"ids": [...]} with whole numbers)");
}

Json encode(const Tokenizer& tokenizer, const Json& request) {
  const bool has_special = request.contains("special");
  if (request.size() != (has_special ? 2 : 1) || !request["text"].is_string() ||
      (has_special && !request["special"].is_boolean()))
    return no_text_or_ids();
  const auto special =
      has_special && request["special"].get<bool>() ? SpecialTokens::recognized : SpecialTokens::as_text;
  return {{"ids", tokenizer.encode(request["text"].get_ref<const std::string&>(), special)}};
}

Json decode(const Tokenizer& tokenizer, const Json& request) {
  const Json& ids = request["ids"];
  const auto is_whole = [](const Json& id) { return id.is_number_integer(); };
  if (request.size() != 1 || !ids.is_array() || !std::all_of(ids.begin(), ids.end(), is_whole)) return no_text_or_ids();
  std::vector<std::int32_t> known;
  for (const Json& id : ids) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= static_cast<std::uint64_t>(tokenizer.vocab_size()))
      return refused("token_out_of_vocabulary", "id " + id.dump() + " at place " + std::to_string(known.size()) +
                                                    " is not from 0 to " + std::to_string(tokenizer.vocab_size() - 1));
    known.push_back(id.get<std::int32_t>());
  }
  return {{"text", tokenizer.decode(known)}};
}

Json answer(const Tokenizer& tokenizer, const Json& request) {
  if (request.is_object() && request.contains("text")) return encode(tokenizer, request);
  if (request.is_object() && request.contains("ids")) return decode(tokenizer, request);
  return no_text_or_ids();
}

}  // namespace

int tokenize_command(const std::filesystem::path& model_folder) {
  const auto tokenizer = Tokenizer::load(model_folder);
  for (std::string line; std::getline(std::cin, line);) {
    Json reply;
    try {
      reply = answer(tokenizer, Json::parse(line, nullptr, false));
    } catch (const Error& error) {
      reply = refused(error.code(), error.what());
    }
    std::cout << reply.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    if (!std::cout)
      throw Error("file_unwritable", "the answers can't be written to standard output",
                  "check where standard output goes: a full disk, or a program that has ended");
  }
  return 0;
}

}  // namespace starpo
