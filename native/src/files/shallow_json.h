#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace starpo {

// Parses JSON of untrusted files and programs. The result is discarded (is_discarded) if the text is invalid or nested
// more than 64 levels deep, because printing a value recurses.
template <class Json = nlohmann::json>
Json parse_shallow_json(std::string_view text) {
  constexpr int kMaxDepth = 64;
  bool too_deep = false;
  const auto limit = [&](int depth, typename Json::parse_event_t, Json&) {
    too_deep |= depth > kMaxDepth;
    return !too_deep;
  };
  Json value = Json::parse(text, limit, false);
  return too_deep ? Json(Json::value_t::discarded) : value;
}

}  // namespace starpo
