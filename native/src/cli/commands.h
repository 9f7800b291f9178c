#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

#include "engine/engine.h"
#include "train/evaluation/evaluate_checkpoint.h"

// The trainer's commands, but for training itself (train/run/train.h). Each prints to stdout and returns the exit
// status; Errors are for the caller to print.
namespace starpo {

// Evaluates a checkpoint of a run, whether or not it is being trained. With `json`, stdout gets lines {"done", "total",
// "eta_seconds"} (null while unknown), at most four a second, and {"result"} at the end; else stderr gets the progress
// and stdout what came out. SIGTERM and SIGINT give it up. Errors: those of evaluate_checkpoint, evaluation_cancelled.
int evaluate_command(const std::filesystem::path& run_directory, const EvaluationRequest&, bool json);

int validate_command(const std::filesystem::path& run_json, bool json);

// What a run of a configuration would begin with, as one JSON object (docs/formats/preview.md): the first conversation
// of `levels` training levels of each environment, as the policy reads it, and the memory that a processor plans.
// `run_json` "-": standard input. Needs the model folder's config.json and tokenizer, no weights. Errors: those of
// parse_run_config, of the tokenizer's and the model configuration's loaders. What goes wrong with one environment
// stands in its place.
int preview_command(const std::filesystem::path& run_json, int levels);

int schema_command();

int status_command(const std::filesystem::path& run_directory, bool json);

// Prints the processor and every CUDA device, or why there is none (docs/formats/devices.md).
int devices_command(bool json);

// Runs the engine's checks on `device`: cpu, cuda:N, or auto (the first GPU that can be used, else the processor).
// Prints a table, or JSON lines (docs/formats/devices.md). Returns 1 where a check failed. Errors: device_unavailable,
// check_unknown.
int self_test_command(const std::string& device, const std::string& filter, bool json);

// score_sequences from standard input to standard output.
int score_command(const std::filesystem::path& model_folder, const EngineSettings&);

// Answers each line {"ids": [...]} with {"logprobs": [...], "entropies": [...]} of every id but the first, at
// temperature 1 and in nats, until the input ends (docs/formats/score.md). A line that can't be scored is answered with
// {"error": {"code", "message"}}: malformed_line, token_out_of_vocabulary, sequence_too_long, non_finite_score,
// out_of_memory. Errors: file_unwritable (the answers).
void score_sequences(Network&, std::istream& requests, std::ostream& answers);

// Answers each line {"text": "..."} with {"ids": [...]} and {"ids": [...]} with {"text": "..."}, until the input ends
// (docs/formats/tokenize.md). A line that can't be answered gets {"error": {"code", "message"}}: malformed_line,
// token_out_of_vocabulary, tokenizer_regex_limit. Errors: file_unwritable (the answers).
int tokenize_command(const std::filesystem::path& model_folder);

// Whether a run can begin from a model folder, without reading its weights: config.json, tokenizer, and the header of
// every weights file. Prints its shape. Errors: those of docs/formats/model-folder.md but model_weights_non_finite and
// model_changed, and model_tokenizer_mismatch.
int inspect_command(const std::filesystem::path& model_folder, bool json);

int env_command(const std::string& type, const std::string& config_json, std::optional<std::uint32_t> noise_seed);

}  // namespace starpo
