#pragma once

#include <filesystem>
#include <string>

namespace starpo {

// Trains a run to its end, from its newest valid checkpoint or from the start. Returns the exit status of the process:
// 0 if the run completed or was stopped, 1 if it failed (see the journal and stderr). Errors before the run is opened
// are thrown: those of read_run_config, check_trainable and Journal. `device` replaces the one of run.json unless it is
// empty.
int run_training(const std::filesystem::path& run_directory, const std::string& device = {});

}  // namespace starpo
