#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "fields/field_visitor.h"

namespace starpo {

// Reads a JSON object according to a description. The object must have every described key and no other. Errors:
// config_invalid, whose message begins with the key's path; unreadable_code if the text is not a JSON object.
void read_fields(std::string_view json, std::string_view unreadable_code,
                 const std::function<void(FieldVisitor&)>& description);
void read_fields(const nlohmann::json& object, const std::function<void(FieldVisitor&)>& description);

// Parses the text of a JSON object. Errors: unreadable_code.
nlohmann::json parse_object(std::string_view text, std::string_view unreadable_code);

// Returns the description as a JSON array of {path, type, minimum, maximum, choices, pattern, min_length, max_length,
// nullable}, with the properties that apply. Elements of a list have paths such as environments[].label.
std::string fields_as_json(const std::function<void(FieldVisitor&)>& description);

}  // namespace starpo
