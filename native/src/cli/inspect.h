#pragma once

#include <filesystem>

namespace starpo {

// Whether a run can begin from a model folder, without reading its weights: config.json, tokenizer, and the header of every weights file. Prints its shape.
// Errors: those of docs/formats/model-folder.md but model_weights_non_finite and model_changed, and model_tokenizer_mismatch.
int inspect_command(const std::filesystem::path& model_folder, bool json);

}  // namespace starpo
