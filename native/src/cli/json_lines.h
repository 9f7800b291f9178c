#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// Requests and answers as JSON lines, for the commands that serve another process.
namespace starpo {

// An invalid request. The answer names it and the process continues.
struct RequestError {
  std::string code, message, hint = {};
};

// Answers each line until the input ends, and a RequestError with {"error": {"code", "message", "hint"}}, without the
// hint if it is empty. A line that is not JSON is passed as a discarded value. Errors: file_unwritable (answers).
void answer_lines(std::istream& requests, std::ostream& answers,
                  const std::function<nlohmann::ordered_json(const nlohmann::ordered_json& request)>& answer);

// Returns whether a value is an array of integers.
bool is_id_list(const nlohmann::ordered_json&);

// Converts an array of integers to token ids. Throws RequestError token_out_of_vocabulary.
std::vector<std::int32_t> token_ids(const nlohmann::ordered_json& ids, int vocab_size);

}  // namespace starpo
