#pragma once

#include <filesystem>

#include "train/evaluation/evaluate_checkpoint.h"

namespace starpo {

// Evaluates a checkpoint of a run, whether or not it is being trained. With `json`, stdout gets lines {"done", "total", "eta_seconds"} (null while unknown), at most four a
// second, and {"result"} at the end; else stderr gets the progress and stdout what came out. SIGTERM and SIGINT give it up. Errors: those of
// evaluate_checkpoint, evaluation_cancelled.
int evaluate_command(const std::filesystem::path& run_directory, const EvaluationRequest&, bool json);

}  // namespace starpo
