#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

#include "engine/engine.h"
#include "train/evaluation/evaluate_checkpoint.h"

// The trainer's commands, except training (train/run/train.h). Each prints to stdout and returns the exit status. The
// caller prints Errors.
namespace starpo {

// Evaluates a checkpoint of a run, which may be training at the same time. With `json`, prints lines {"done", "total",
// "eta_seconds"} (null while unknown), at most four per second, and {"result"} at the end. Otherwise prints progress to
// stderr and the result to stdout. SIGTERM and SIGINT cancel it. Throws the errors of evaluate_checkpoint, and
// evaluation_canceled.
int evaluate_command(const std::filesystem::path& run_directory, const EvaluationRequest&, bool json);

// Validates a run.json; "-" reads standard input. Prints warnings and settings without effect. With `start`, also
// checks that the run can start on this machine. Throws the errors of parse_run_config, check_trainable and
// check_start.
int validate_command(const std::filesystem::path& run_json, bool start, bool json);

// Prints one JSON object about a run with this configuration (docs/formats/preview.md): the first prompts of `levels`
// training levels per environment, and a CPU's memory plan. `run_json` "-" reads standard input. Needs
// the model folder's config.json and tokenizer, but no weights. Throws the errors of parse_run_config and of the
// tokenizer and model configuration loaders. An environment's error is printed instead of its samples.
int preview_command(const std::filesystem::path& run_json, int levels);

int schema_command();

int status_command(const std::filesystem::path& run_directory, bool json);

// Prints the CPU and every CUDA device, or the reason why CUDA is unavailable (docs/formats/devices.md).
int devices_command(bool json);

// Runs the engine's checks on `device`: cpu, cuda:N, or auto (the usable GPU with the most free memory, else the CPU).
// Prints a table or JSON lines (docs/formats/devices.md). Returns 1 if a check failed. Errors: device_unavailable,
// check_unknown.
int self_test_command(const std::string& device, const std::string& filter, bool json);

// Runs score_sequences from standard input to standard output.
int score_command(const std::filesystem::path& model_folder, const EngineSettings&);

// Answers each line {"ids": [...]} with {"logprobs": [...], "entropies": [...]} for every id except the first, in nats
// at temperature 1, until the input ends (docs/formats/score.md). Answers an invalid line with
// {"error": {"code", "message", "hint"}}: malformed_line, token_out_of_vocabulary, sequence_too_long, non_finite_score,
// out_of_memory. Errors: file_unwritable (stdout).
void score_sequences(Network&, std::istream& requests, std::ostream& answers);

// Runs compute_lines from standard input to standard output.
int compute_command();

// Answers each line with advantages, a policy loss or kept groups, as computed in training, until the input ends
// (docs/formats/compute.md). Answers an invalid line with {"error": {"code", "message", "hint"}}: malformed_line,
// config_invalid, request_invalid, non_finite_result, out_of_memory. Errors: file_unwritable (answers).
void compute_lines(std::istream& requests, std::ostream& answers);

// Answers each line {"text": "..."} with {"ids": [...]} and {"ids": [...]} with {"text": "..."}, until the input ends
// (docs/formats/tokenize.md). Answers an invalid line with {"error": {"code", "message", "hint"}}: malformed_line,
// token_out_of_vocabulary, tokenizer_regex_limit. Throws the errors of Tokenizer::load, and file_unwritable (stdout).
int tokenize_command(const std::filesystem::path& model_folder);

// Checks that a run can start from a model folder: config.json, tokenizer, and the header of every weights file, but
// not the weights. Prints the model's architecture. Throws the errors in docs/formats/model-folder.md
// except model_missing, model_changed and, unless a head lies beside tied embeddings, model_weights_non_finite.
int inspect_command(const std::filesystem::path& model_folder, bool json);

// Plays episodes on the validation levels of a run's environment, with the tokens that another process samples from the
// policy, with the prompts, parsing, limits and penalties of training (docs/formats/env-protocol.md). Reads the
// checkpoint's tokenizer, but no weights. Throws the errors of read_run_config and Playground,
// environment_unknown, file_unwritable (stdout).
int play_command(const std::filesystem::path& run_directory, int checkpoint, const std::string& label);

// Reads a folder with WebShop's files and builds its index if the catalogue is large (docs/webshop.md). Prints progress
// and the numbers of products and goals as JSON lines. Throws the errors of Catalogue and GoalList.
int catalogue_command(const std::filesystem::path& folder, bool human_goals);

// Serves an environment (docs/formats/env-protocol.md). Throws the errors of make_environment.
int env_command(const std::string& type, const std::string& config_json, std::optional<std::uint32_t> noise_seed);

}  // namespace starpo
