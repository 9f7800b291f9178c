#include "train/evaluation/panel.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "env/registry.h"
#include "fields/field_reader.h"
#include "files/reading.h"
#include "files/sha256.h"
#include "files/temporary_file.h"

namespace starpo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kPanelVersion = 1;
constexpr std::uintmax_t kMaxPanelBytes = 1 << 30;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

const char* name_of(Noise noise) {
  switch (noise) {
    case Noise::shared: return "shared";
    case Noise::independent: return "independent";
    case Noise::reference: break;
  }
  return "reference";
}

// Returns the part of an environment's configuration that its levels depend on. Names of files are omitted if their
// digest is known, and of a program only the command counts.
Json level_config(const EnvironmentType& type, const std::string& config, bool has_digest) {
  Json json = Json::parse(config);
  if (type.is_external) return {{"command", json.at("command")}};
  if (!has_digest) return json;
  for (const Json& field : Json::parse(fields_as_json(type.describe_config)))
    if (field.value("names_files", false)) json.erase(field.at("path").get<std::string>());
  return json;
}

Json level_of(const Episode& episode, const EnvironmentType& type) {
  Json level{{"seed", episode.spec.seed}};
  // A program may answer with another text.
  if (type.is_external) return level;
  const Json page = Json::parse(episode.initial, nullptr, false);
  level["initial"] = page.is_object() ? page : Json(episode.initial);
  for (const auto& [name, values] : episode.reset_info) level[name] = values;
  return level;
}

}  // namespace

std::string panel_of(const EnvironmentConfig& environment, const std::string& files_digest,
                     std::span<const Episode* const> episodes) {
  const EnvironmentType& type = *find_environment_type(environment.type);
  Json described{{"type", environment.type},
                 {"config", level_config(type, environment.config, !files_digest.empty())},
                 {"noise", name_of(environment.noise)}};
  if (!files_digest.empty()) described["files_sha256"] = files_digest;
  std::string text =
      "{\"version\": " + std::to_string(kPanelVersion) + ",\n\"environment\": " + dump(described) + ",\n\"levels\": [";
  const char* separator = "\n";
  for (const Episode* episode : episodes) {
    text += separator + dump(level_of(*episode, type));
    separator = ",\n";
  }
  return text + "\n]}\n";
}

std::string record_panel(const fs::path& run_directory, const std::string& label, const std::string& panel) {
  const std::string name = "panels/" + label + ".json";
  const fs::path file = run_directory / name;
  std::error_code error;
  if (!fs::exists(file, error)) {
    fs::create_directories(file.parent_path(), error);  // writing reports the error
    write_file_atomically(file, panel);
    return sha256(panel);
  }
  const auto earlier = read_text_file(file, kMaxPanelBytes);
  if (!earlier)
    throw Error("file_unreadable", "can't read " + file.string(), "check its permissions and its disk, then resume");
  if (*earlier != panel)
    throw Error(
        kPanelChanged,
        "the levels of the evaluation " + label + " differ from those of the run's earlier evaluations in " + name +
            ", so their results can't be compared",
        "resume the run with the settings and the version of StarPO Studio that it was started with, or fork it");
  return sha256(panel);
}

}  // namespace starpo
