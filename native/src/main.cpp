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
#include "train/run/train.h"

namespace {

constexpr int failed_status = 1;
constexpr int bad_input_status = 2;

int report(const std::string& code, const std::string& message, const std::string& hint, bool json, int status) {
  using Json = nlohmann::ordered_json;
  std::cerr << "error: " << message << "\n  code: " << code << "\n  hint: " << hint << "\n";
  if (json) {
    const Json error{{"error", {{"code", code}, {"message", message}, {"hint", hint}}}};
    std::cout << error.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
  }
  return status;
}

// What went wrong while running, rather than with what was given.
bool is_failure(const std::string& code) {
  constexpr std::array failures{"disk_full",         "file_unwritable", "out_of_memory", "evaluation_cancelled",
                                "gpu_out_of_memory", "gpu_failed"};
  return std::find(failures.begin(), failures.end(), code) != failures.end() || code.starts_with("non_finite_");
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file at the limit of its size is an error of write(2), said like a full disk
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
  for (const char* name : {"train", "warm-start"})
    add(name, "Run, or go on with, the run in a directory", [&] { return starpo::run_training(path); })
        ->add_option("RUN_DIR", path)
        ->required();

  starpo::EvaluationRequest evaluation;
  auto* evaluate = add("evaluate", "Play a checkpoint of a run, trained or in training, on fixed levels",
                       [&] { return starpo::evaluate_command(path, evaluation, json); });
  evaluate->add_option("RUN_DIR", path)->required();
  evaluate->add_option("--checkpoint", evaluation.checkpoint, "iteration of the checkpoint")
      ->required()
      ->check(CLI::Range(0, 1000000));
  auto* label = evaluate->add_option("--on", evaluation.label,
                                     "label of one of the run's environments; else its first that is validated");
  evaluate
      ->add_option("--environment", evaluation.environment,
                   "another environment, as JSON of one of run.json's environments[]")
      ->excludes(label);
  evaluate->add_option("--levels", evaluation.levels, "how many; else evaluation.levels of run.json");
  evaluate->add_option("--temperature", evaluation.temperature, "else evaluation.temperature of run.json");
  evaluate->add_option("--seed", evaluation.seed, "of the first level; else levels.validation_seed of run.json");
  evaluate->add_option("--name", evaluation.name, "of the result; else checkpoint and label, as in 000050-frozen-lake");
  evaluate->add_flag("--json", json, "progress and result as JSON lines");

  auto* validate = add("validate", "Check a run.json, or what comes on standard input where FILE is -",
                       [&] { return starpo::validate_command(path, json); });
  validate->add_option("FILE", path)->required();
  validate->add_flag("--json", json);

  int levels = 3;
  auto* preview =
      add("preview",
          "The first conversations and the memory of a run, as JSON, before there is one; FILE - is standard input",
          [&] { return starpo::preview_command(path, levels); });
  preview->add_option("FILE", path)->required();
  preview->add_option("--levels", levels, "of each environment")->check(CLI::Range(0, 16));

  add("schema", "Print every configuration key, its type and range, and the metric names",
      [] { return starpo::schema_command(); });

  auto* status = add("status", "Say who trains in a run directory and how far it is",
                     [&] { return starpo::status_command(path, json); });
  status->add_option("RUN_DIR", path)->required();
  status->add_flag("--json", json);

  add("devices", "List what can be trained on", [&] {
    return starpo::devices_command(json);
  })->add_flag("--json", json);

  std::string device = "auto", filter;
  auto* self_test = add("selftest", "Check the engine's operations on a device against exact references",
                        [&] { return starpo::self_test_command(device, filter, json); });
  self_test->add_option("--device", device, "cpu, cuda:N or auto");
  self_test->add_option("--filter", filter, "only checks whose name contains this");
  self_test->add_flag("--json", json, "results as JSON lines");

  starpo::EngineSettings engine;
  std::string precision = "fp32";
  auto* score =
      add("score", "Log-probabilities and entropies of token ids, as JSON lines on standard input and output", [&] {
        engine.precision = starpo::precision_from_name(precision);
        return starpo::score_command(path, engine);
      });
  score->add_option("MODEL_DIR", path, "a Hugging Face model folder; it needs no tokenizer")->required();
  score->add_option("--device", engine.device, "auto, cpu, cuda or cuda:N");
  score->add_option("--precision", precision)->check(CLI::IsMember({"fp32", "bf16"}));

  add("tokenize", "Texts to token ids and back, as JSON lines on standard input and output",
      [&] { return starpo::tokenize_command(path); })
      ->add_option("MODEL_DIR", path, "a folder with a tokenizer.json")
      ->required();

  auto* inspect = add("inspect", "Whether a run can begin from a model folder, and the model's shape",
                      [&] { return starpo::inspect_command(path, json); });
  inspect->add_option("MODEL_DIR", path)->required();
  inspect->add_flag("--json", json);

  std::optional<std::uint32_t> noise_seed;
  auto* env = add("env", "An environment on standard input and output, as JSON lines",
                  [&] { return starpo::env_command(type, config, noise_seed); });
  env->add_option("NAME", type, "as environments[].type in run.json")->required();
  env->add_option("--config", config, "its configuration keys as a JSON object")->required();
  env->add_option("--noise", noise_seed,
                  "seed of slips and payouts that no level shows; else they are the reference's");

  try {
    app.parse(argc, argv);
    starpo::select_isa_from_environment();
    return command();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return report("usage", error.what(), "see starpo-trainer --help", json, bad_input_status);
  } catch (const starpo::Error& error) {
    return report(error.code(), error.what(), error.hint(), json,
                  is_failure(error.code()) ? failed_status : bad_input_status);
  } catch (const std::bad_alloc&) {
    return report("out_of_memory", "there isn't enough memory",
                  "use fewer rollout.slots or a smaller optimizer.micro_batch_tokens, or close other programs", json,
                  failed_status);
  } catch (const std::exception& error) {
    return report("internal_error", error.what(),
                  "this is a defect of the trainer; please report it with the run's trainer.log", json, failed_status);
  }
}
