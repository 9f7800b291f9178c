#include "cli/commands.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tokenizer/tokenizer.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

Json error_answer(const std::string& code, const std::string& message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

Json malformed_line() {
  return error_answer(
      "malformed_line",
      R"(a line must be {"text": "..."}, optionally with "special": true to recognise special tokens, or {"ids": [...]} with integers)");
}

Json encode(const Tokenizer& tokenizer, const Json& request) {
  const bool has_special = request.contains("special");
  if (request.size() != (has_special ? 2 : 1) || !request["text"].is_string() ||
      (has_special && !request["special"].is_boolean()))
    return malformed_line();
  const auto special =
      has_special && request["special"].get<bool>() ? SpecialTokens::recognized : SpecialTokens::as_text;
  return {{"ids", tokenizer.encode(request["text"].get_ref<const std::string&>(), special)}};
}

Json decode(const Tokenizer& tokenizer, const Json& request) {
  const Json& ids = request["ids"];
  const auto is_whole = [](const Json& id) { return id.is_number_integer(); };
  if (request.size() != 1 || !ids.is_array() || !std::all_of(ids.begin(), ids.end(), is_whole)) return malformed_line();
  std::vector<std::int32_t> checked_ids;
  for (const Json& id : ids) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= static_cast<std::uint64_t>(tokenizer.vocab_size()))
      return error_answer("token_out_of_vocabulary",
                          "id " + id.dump() + " at position " + std::to_string(checked_ids.size()) +
                              " is outside the range 0 to " + std::to_string(tokenizer.vocab_size() - 1));
    checked_ids.push_back(id.get<std::int32_t>());
  }
  return {{"text", tokenizer.decode(checked_ids)}};
}

Json answer(const Tokenizer& tokenizer, const Json& request) {
  if (request.is_object() && request.contains("text")) return encode(tokenizer, request);
  if (request.is_object() && request.contains("ids")) return decode(tokenizer, request);
  return malformed_line();
}

}  // namespace

int tokenize_command(const std::filesystem::path& model_folder) {
  const auto tokenizer = Tokenizer::load(model_folder);
  for (std::string line; std::getline(std::cin, line);) {
    Json response;
    try {
      response = answer(tokenizer, Json::parse(line, nullptr, false));
    } catch (const Error& error) {
      response = error_answer(error.code(), error.what());
    }
    std::cout << response.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    if (!std::cout)
      throw Error("file_unwritable", "can't write to standard output",
                  "check its destination: the disk may be full, or the reading program may have exited");
  }
  return 0;
}

}  // namespace starpo
