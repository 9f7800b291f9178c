#pragma once

#include <filesystem>

namespace starpo {

// Trains the run in its directory to its end, from its newest whole checkpoint or from the start: docs/formats. Returns
// the process's exit status: 0 when the run is complete or was stopped, 1 when it failed (the journal and stderr say
// why). Errors before the run could be opened are thrown: config_*, run_missing, run_locked.
int run_training(const std::filesystem::path& run_directory);

}  // namespace starpo
