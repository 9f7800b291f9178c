#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/commands.h"
#include "engine/cpu/kernels/isa.h"
#include "files/descriptor.h"
#include "train/run/train.h"

namespace {

constexpr int kFailedStatus = 1;
constexpr int kBadInputStatus = 2;

int report(const std::string& code, const std::string& message, const std::string& hint, bool json, int status) {
  using Json = nlohmann::ordered_json;
  std::cerr << "error: " << message << "\n  code: " << code << "\n  hint: " << hint << "\n";
  if (json) {
    const Json error{{"error", {{"code", code}, {"message", message}, {"hint", hint}}}};
    std::cout << error.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
  }
  return status;
}

// Returns whether the error happened while running, rather than because of invalid input.
bool is_failure(const std::string& code) {
  constexpr std::array failures{"disk_full",         "file_unwritable", "out_of_memory",     "evaluation_canceled",
                                "gpu_out_of_memory", "gpu_failed",      "environment_failed"};
  return std::find(failures.begin(), failures.end(), code) != failures.end() || code.starts_with("non_finite_");
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // so write(2) returns EFBIG at the file size limit, reported like a full disk
  CLI::App app("StarPO Studio's trainer");
  app.require_subcommand(1);
  std::string path, type, config;
  bool json = false;
  std::function<int()> command;

  const auto add = [&](const char* name, const char* description, std::function<int()> run) {
    auto* sub = app.add_subcommand(name, description);
    sub->callback([&command, run] { command = run; });
    return sub;
  };
  std::string training_device;
  for (const char* name : {"train", "warm-start"}) {
    auto* train = add(name, "Train the run in a directory, resuming from its last checkpoint",
                      [&] { return starpo::run_training(path, training_device); });
    train->add_option("RUN_DIR", path)->required();
    train->add_option("--device", training_device, "auto, cpu, cuda or cuda:N; default: device of run.json");
  }

  starpo::EvaluationRequest evaluation;
  auto* evaluate = add("evaluate", "Evaluate a checkpoint on a fixed set of levels",
                       [&] { return starpo::evaluate_command(path, evaluation, json); });
  evaluate->add_option("RUN_DIR", path)->required();
  evaluate->add_option("--checkpoint", evaluation.checkpoint, "iteration of the checkpoint")
      ->required()
      ->check(CLI::Range(0, 1000000));
  auto* label =
      evaluate->add_option("--on", evaluation.label,
                           "label of an environment of the run; default: the first with validate true, else the first");
  evaluate
      ->add_option("--environment", evaluation.environment,
                   "a different environment, as a JSON object like an element of environments[] in run.json")
      ->excludes(label);
  evaluate->add_option("--levels", evaluation.levels, "number of levels; default: evaluation.levels of run.json");
  evaluate->add_option("--temperature", evaluation.temperature,
                       "sampling temperature; default: evaluation.temperature of run.json");
  evaluate->add_option("--top-p", evaluation.top_p,
                       "total probability of the tokens to sample from, 0.01 to 1; 1 disables it; default: "
                       "rollout.top_p of run.json");
  evaluate->add_option(
      "--top-k", evaluation.top_k,
      "number of most likely tokens to sample from; 0 disables it; default: rollout.top_k of run.json");
  evaluate->add_option("--min-p", evaluation.min_p,
                       "minimum probability of a token, as a fraction of the most likely token's, 0 to 1; 0 disables "
                       "it; default: rollout.min_p of run.json");
  evaluate->add_option("--seed", evaluation.seed,
                       "seed of the first level; default: levels.validation_seed of run.json");
  evaluate->add_option("--name", evaluation.name,
                       "name of the result; default: checkpoint and label, such as 000050-frozen-lake");
  evaluate->add_flag("--json", json, "print progress and the result as JSON lines");

  bool start = false;
  auto* validate = add("validate", "Validate a run.json; FILE - reads standard input",
                       [&] { return starpo::validate_command(path, start, json); });
  validate->add_option("FILE", path)->required();
  validate->add_flag("--start", start, "also check that the run can start on this machine: device and model folder");
  validate->add_flag("--json", json);

  int levels = 3;
  auto* preview = add(
      "preview",
      "Print the first prompts and, on a CPU, the memory plan of a configuration as JSON; FILE - reads standard input",
      [&] { return starpo::preview_command(path, levels); });
  preview->add_option("FILE", path)->required();
  preview->add_option("--levels", levels, "levels per environment; default: 3")->check(CLI::Range(0, 16));

  add("schema", "Print every configuration key with type and range, and all metric names",
      [] { return starpo::schema_command(); });

  auto* status = add("status", "Show which process trains a run directory and its last iteration",
                     [&] { return starpo::status_command(path, json); });
  status->add_option("RUN_DIR", path)->required();
  status->add_flag("--json", json);

  add("devices", "List the devices of this machine, and why a GPU can't be used", [&] {
    return starpo::devices_command(json);
  })->add_flag("--json", json);

  std::string device = "auto", filter;
  auto* self_test = add("selftest", "Check the engine's operations on a device against reference results",
                        [&] { return starpo::self_test_command(device, filter, json); });
  self_test->add_option("--device", device, "auto, cpu, cuda or cuda:N; default: auto");
  self_test->add_option("--filter", filter, "run only checks whose name contains this text");
  self_test->add_flag("--json", json, "print results as JSON lines");

  starpo::EngineSettings engine;
  std::string precision = "fp32";
  auto* score =
      add("score", "Score token ids: read JSON lines from standard input, print log-probabilities and entropies", [&] {
        engine.precision = starpo::precision_from_name(precision);
        return starpo::score_command(path, engine);
      });
  score->add_option("MODEL_DIR", path, "a Hugging Face model folder; a tokenizer is not needed")->required();
  score->add_option("--device", engine.device, "auto, cpu, cuda or cuda:N");
  score->add_option("--precision", precision)->check(CLI::IsMember({"fp32", "bf16"}));

  add("compute",
      "Compute advantages, policy losses and filters: read JSON lines from standard input, print the results",
      [] { return starpo::compute_command(); });

  add("tokenize", "Convert between text and token ids: read and print JSON lines",
      [&] { return starpo::tokenize_command(path); })
      ->add_option("MODEL_DIR", path, "a folder with a tokenizer.json")
      ->required();

  auto* inspect = add("inspect", "Check that a run can start from a model folder, and print the model's architecture",
                      [&] { return starpo::inspect_command(path, json); });
  inspect->add_option("MODEL_DIR", path)->required();
  inspect->add_flag("--json", json);

  std::optional<std::uint32_t> noise_seed;
  auto* env = add("env", "Serve an environment as JSON lines on standard input and output",
                  [&] { return starpo::env_command(type, config, noise_seed); });
  env->add_option("NAME", type, "environment type, as in environments[].type of run.json")->required();
  env->add_option("--config", config, "configuration of the environment as a JSON object")->required();
  env->add_option("--noise", noise_seed,
                  "seed for slips and payouts; default: the random numbers of the level, as in RAGEN");

  bool human_goals = false;
  auto* catalogue = add("catalogue", "Read a WebShop catalogue and build its index; print JSON lines",
                        [&] { return starpo::catalogue_command(path, human_goals); });
  catalogue->add_option("FOLDER", path, "folder with WebShop's files")->required();
  catalogue->add_flag("--human-goals", human_goals, "use the instructions of items_human_ins.json");

  int checkpoint = 0;
  std::string environment;
  auto* play = add("play", "Play episodes with tokens sampled by another process: read and print JSON lines",
                   [&] { return starpo::play_command(path, checkpoint, environment); });
  play->add_option("RUN_DIR", path)->required();
  play->add_option("--checkpoint", checkpoint, "iteration of the checkpoint whose tokenizer to use")
      ->required()
      ->check(CLI::Range(0, 1000000));
  play->add_option("--on", environment, "label of an environment of the run")->required();

  try {
    app.parse(argc, argv);
    starpo::select_isa_from_environment();
    return command();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return report("usage", error.what(), "run starpo-trainer --help", json, kBadInputStatus);
  } catch (const starpo::Error& error) {
    return report(error.code(), error.what(), error.hint(), json,
                  is_failure(error.code()) ? kFailedStatus : kBadInputStatus);
  } catch (const std::bad_alloc&) {
    return report("out_of_memory", "out of memory", "close other programs, or use a smaller model", json,
                  kFailedStatus);
  } catch (const std::exception& exception) {
    const auto error = starpo::unhandled_error(exception);
    return report(error.code(), error.what(), error.hint(), json, kFailedStatus);
  }
}
