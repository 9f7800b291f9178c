#pragma once

#include <filesystem>

namespace starpo {

// What a run of a configuration would begin with, as one JSON object (docs/formats/preview.md): the first conversation of `levels` training levels of each environment,
// as the policy reads it, and the memory that a processor plans. `run_json` "-": standard input. Needs the model folder's config.json and tokenizer, no weights.
// Errors: those of parse_run_config, of the tokenizer's and the model configuration's loaders. What goes wrong with one environment stands in its place.
int preview_command(const std::filesystem::path& run_json, int levels);

}  // namespace starpo
