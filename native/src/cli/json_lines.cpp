#include "cli/json_lines.h"

#include <algorithm>
#include <istream>
#include <ostream>

#include "base/error.h"

namespace starpo {

using Json = nlohmann::ordered_json;

void answer_lines(std::istream& requests, std::ostream& answers, const std::function<Json(const Json&)>& answer) {
  for (std::string line; std::getline(requests, line);) {
    Json response;
    try {
      response = answer(Json::parse(line, nullptr, false));
    } catch (const RequestError& error) {
      Json problem{{"code", error.code}, {"message", error.message}};
      if (!error.hint.empty()) problem["hint"] = error.hint;
      response["error"] = std::move(problem);
    }
    answers << response.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    if (!answers)
      throw Error("file_unwritable", "can't write to standard output",
                  "check its destination: the disk may be full, or the reading program may have exited");
  }
}

bool is_id_list(const Json& ids) {
  return ids.is_array() && std::ranges::all_of(ids, [](const Json& id) { return id.is_number_integer(); });
}

std::vector<std::int32_t> token_ids(const Json& ids, int vocab_size) {
  std::vector<std::int32_t> result;
  for (const Json& id : ids) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= static_cast<std::uint64_t>(vocab_size))
      throw RequestError{"token_out_of_vocabulary", "id " + id.dump() + " at position " +
                                                        std::to_string(result.size()) + " is outside the range 0 to " +
                                                        std::to_string(vocab_size - 1)};
    result.push_back(id.get<std::int32_t>());
  }
  return result;
}

}  // namespace starpo
