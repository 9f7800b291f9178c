#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

// Reads core/run-config/options.json, which is built into the trainer and shared with core: upgrades of older run.json
// versions, and the meaning of each key.
namespace starpo {

// Returns the current version of run.json.
int newest_run_config_version();

// Upgrades a parsed run.json to the current version. Leaves missing or mistyped keys for the reader to refuse. Returns
// sentences about changed behaviour.
std::vector<std::string> upgrade_run_config(nlohmann::json& config);

// Returns the meaning of a key, given its path without indices ("environments[].label"). Empty if it has none.
std::string meaning_of_key(const std::string& path);

}  // namespace starpo
