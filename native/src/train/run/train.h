#pragma once

#include <filesystem>

namespace starpo {

// Trains a run to its end, from its newest valid checkpoint or from the start. Returns the exit status of the process:
// 0 if the run completed or was stopped, 1 if it failed (see the journal and stderr). Errors before the run is opened
// are thrown: config_*, run_missing, run_locked.
int run_training(const std::filesystem::path& run_directory);

}  // namespace starpo
