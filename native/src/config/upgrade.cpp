#include "config/upgrade.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "run_options.h"  // generated from core/run-config/options.json by CMakeLists.txt

namespace starpo {
namespace {

using Json = nlohmann::json;

const Json& options() {
  static const Json parsed = Json::parse(kRunOptionsJson);
  return parsed;
}

// Calls `visit` with every object that contains the last key of a path. "environments[].noise" visits each element.
// Paths through missing objects visit nothing.
void each_holder(Json& object, std::string_view path,
                 const std::function<void(Json& holder, const std::string& key)>& visit) {
  if (!object.is_object()) return;
  const auto dot = path.find('.');
  if (dot == std::string_view::npos) return visit(object, std::string(path));
  auto name = path.substr(0, dot);
  const auto rest = path.substr(dot + 1);
  const bool is_list = name.ends_with("[]");
  if (is_list) name.remove_suffix(2);
  const auto found = object.find(std::string(name));
  if (found == object.end()) return;
  if (!is_list) return each_holder(*found, rest, visit);
  if (!found->is_array()) return;
  for (Json& element : *found) each_holder(element, rest, visit);
}

// {path, set} sets a key if it is missing. {path, rename} renames a key within its object.
void apply(const Json& change, Json& config) {
  each_holder(config, change.at("path").get<std::string>(), [&](Json& holder, const std::string& key) {
    if (const auto value = change.find("set"); value != change.end()) {
      if (!holder.contains(key)) holder[key] = *value;
    } else if (const auto found = holder.find(key); found != holder.end()) {
      Json moved = std::move(*found);
      holder.erase(key);
      holder[change.at("rename").get<std::string>()] = std::move(moved);
    }
  });
}

// {path, is}: a key has this value. {path, above}: a number is larger. {path, longer_than}: a list has more elements.
bool holds(const Json& condition, Json& config) {
  bool any = false;
  each_holder(config, condition.at("path").get<std::string>(), [&](Json& holder, const std::string& key) {
    const auto found = holder.find(key);
    if (found == holder.end()) return;
    if (condition.contains("is")) any = any || *found == condition["is"];
    if (condition.contains("above")) any = any || (found->is_number() && *found > condition["above"]);
    if (condition.contains("longer_than"))
      any = any || (found->is_array() && found->size() > condition["longer_than"].get<std::size_t>());
  });
  return any;
}

}  // namespace

const Json& run_config_upgrades() { return options().at("upgrades"); }

int newest_run_config_version() {
  const Json& upgrades = run_config_upgrades();
  return upgrades.empty() ? 1 : upgrades.back().at("to").get<int>();
}

std::vector<std::string> upgrade_run_config(Json& config, const Json& upgrades) {
  std::vector<std::string> notes;
  if (!config.is_object() || !config.contains("version")) return notes;
  for (const Json& upgrade : upgrades) {
    const int to = upgrade.at("to");
    if (config["version"] != to - 1) continue;
    for (const Json& note : upgrade.at("notes"))
      if (std::ranges::all_of(note.at("when"), [&](const Json& condition) { return holds(condition, config); }))
        notes.push_back(note.at("text"));
    for (const Json& change : upgrade.at("changes")) apply(change, config);
    config["version"] = to;
  }
  return notes;
}

std::string meaning_of_key(const std::string& path) { return options().at("meanings").value(path, std::string()); }

}  // namespace starpo
