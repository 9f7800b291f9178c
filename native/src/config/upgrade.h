#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

// Access to core/run-config/options.json, which is built into the trainer and shared with core: upgrades of older
// run.json versions, and the meaning of each key.
namespace starpo {

// Returns the current version of run.json: that of the last upgrade, or 1.
int newest_run_config_version();

// Returns the upgrades of options.json, one for each version after 1.
const nlohmann::json& run_config_upgrades();

// Upgrades a parsed run.json to the newest version of a table. Leaves missing or mistyped keys for the reader to
// reject. Returns sentences about changed behavior.
std::vector<std::string> upgrade_run_config(nlohmann::json& config,
                                            const nlohmann::json& upgrades = run_config_upgrades());

// Returns the meaning of a key, given its path without indices ("environments[].label"). Empty if it has none.
std::string meaning_of_key(const std::string& path);

}  // namespace starpo
