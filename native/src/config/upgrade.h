#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

// core/run-config/options.json, which core reads too and which is built into the trainer: how older run.json become
// today's, and each key's meaning in words.
namespace starpo {

// The version of run.json that the last upgrade leads to.
int newest_run_config_version();

// Applies, one after another, the upgrades from a run.json's version on, in memory: the file stays as it was written.
// What isn't there or is of a wrong type is left for the reader to refuse. Returns sentences on what goes on
// differently than before.
std::vector<std::string> upgrade_run_config(nlohmann::json& config);

// What a key is for, by its path without indices, as in "environments[].label"; empty where no words are needed.
std::string meaning_of_key(const std::string& path);

}  // namespace starpo
