#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "env/environment.h"

namespace starpo {

class FieldVisitor;

// A kind of environment: its name in run.json, its configuration keys, and how one is made.
struct EnvironmentType {
  std::string_view name;
  void (*describe_config)(FieldVisitor&);
  std::unique_ptr<Environment> (*make)(const std::string& config_json);
};

std::span<const EnvironmentType> environment_types();
std::span<const std::string_view> environment_type_names();
const EnvironmentType* find_environment_type(std::string_view name);  // nullptr where there is none

}  // namespace starpo
