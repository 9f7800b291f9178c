#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/json_lines.h"
#include "fields/field_reader.h"

// Reads requests of `starpo-trainer compute` (docs/formats/compute.md).
namespace starpo {

using Json = nlohmann::ordered_json;

RequestError invalid(const std::string& path, const std::string& problem);

// Returns the section with the keys that the request omits.
nlohmann::json complete_section(const Json& request, const std::string& name);

// Reads a section of run.json from a request.
template <class Section>
Section section_of(const Json& request, const std::string& name) {
  const nlohmann::json object{{name, complete_section(request, name)}};
  Section section;
  try {
    read_fields(object, [&](FieldVisitor& visitor) { visitor.section(name, section); });
  } catch (const Error& error) {
    throw RequestError{error.code(), error.what(), error.hint()};
  }
  return section;
}

const Json& list_in(const Json& object, const std::string& key, const std::string& path);
double number_of(const Json&, const std::string& path);
int integer_of(const Json&, const std::string& path, int minimum, int maximum = 1'000'000'000);
std::vector<double> numbers_of(const Json& list, const std::string& path);

// Returns a list with one number per token.
std::vector<double> per_token(const Json& object, const std::string& key, const std::string& path, std::size_t tokens);

// Numbers keys, such as groups, in order of first appearance.
class Numbering {
 public:
  int number_of(const std::string& key) {
    return numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, int> numbers_;
};

// Computes the policy loss and its gradient.
Json compute_policy_loss(const Json& request);

}  // namespace starpo
