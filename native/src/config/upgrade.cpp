#include "config/upgrade.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "run_options.h"  // generated from core/run-config/options.json by CMakeLists.txt

namespace starpo {
namespace {

using json = nlohmann::json;

const json& options() {
  static const json parsed = json::parse(kRunOptionsJson);
  return parsed;
}

// Calls `visit` with every object that contains the last key of a path. "environments[].noise" visits each element.
// Paths through missing objects visit nothing.
void for_each_parent(json& object, std::string_view path,
                     const std::function<void(json& parent, const std::string& key)>& visit) {
  if (!object.is_object()) return;
  const auto dot = path.find('.');
  if (dot == std::string_view::npos) return visit(object, std::string(path));
  auto name = path.substr(0, dot);
  const auto rest = path.substr(dot + 1);
  const bool is_list = name.ends_with("[]");
  if (is_list) name.remove_suffix(2);
  const auto found = object.find(std::string(name));
  if (found == object.end()) return;
  if (!is_list) return for_each_parent(*found, rest, visit);
  if (!found->is_array()) return;
  for (json& element : *found) for_each_parent(element, rest, visit);
}

// Applies a change. {path, set} sets a key if it is missing. {path, rename} renames a key within its object.
void apply(const json& change, json& config) {
  for_each_parent(config, change.at("path").get<std::string>(), [&](json& parent, const std::string& key) {
    if (const auto value = change.find("set"); value != change.end()) {
      if (!parent.contains(key)) parent[key] = *value;
    } else if (const auto found = parent.find(key); found != parent.end()) {
      json moved = std::move(*found);
      parent.erase(key);
      parent[change.at("rename").get<std::string>()] = std::move(moved);
    }
  });
}

// Evaluates a condition. {path, is}: a key has this value. {path, above}: a number is larger. {path, longer_than}: a
// list has more elements.
bool is_met(const json& condition, json& config) {
  bool any = false;
  for_each_parent(config, condition.at("path").get<std::string>(), [&](json& parent, const std::string& key) {
    const auto found = parent.find(key);
    if (found == parent.end()) return;
    if (condition.contains("is")) any = any || *found == condition["is"];
    if (condition.contains("above")) any = any || (found->is_number() && *found > condition["above"]);
    if (condition.contains("longer_than"))
      any = any || (found->is_array() && found->size() > condition["longer_than"].get<std::size_t>());
  });
  return any;
}

}  // namespace

const json& run_config_upgrades() { return options().at("upgrades"); }

int newest_run_config_version() {
  const json& upgrades = run_config_upgrades();
  return upgrades.empty() ? 1 : upgrades.back().at("to").get<int>();
}

std::vector<std::string> upgrade_run_config(json& config, const json& upgrades) {
  std::vector<std::string> notes;
  if (!config.is_object() || !config.contains("version")) return notes;
  for (const json& upgrade : upgrades) {
    const int to = upgrade.at("to");
    if (config["version"] != to - 1) continue;
    for (const json& note : upgrade.at("notes"))
      if (std::ranges::all_of(note.at("when"), [&](const json& condition) { return is_met(condition, config); }))
        notes.push_back(note.at("text"));
    for (const json& change : upgrade.at("changes")) apply(change, config);
    config["version"] = to;
  }
  return notes;
}

std::string meaning_of_key(const std::string& path) { return options().at("meanings").value(path, std::string()); }

}  // namespace starpo
