// Measures trained and generated tokens per second of a policy with the shape of the starter or of a model folder, and
// prints one line of JSON.
//   starpo-bench [--threads 2] [--isa scalar|avx2|avx512] [--precision fp32|bf16] [--clock wall|processor]
//                [--model FOLDER] [sizes]
//   starpo-bench --groups 1 8 16   prints a line per rollout size, and the training in the last line
//   starpo-bench --write FOLDER    writes weights and tokens for another program
//   starpo-bench rehearse RUN_DIR --response-mean 100 --iterations 3
//                                  runs whole iterations of a run with responses of given lengths
//   starpo-bench golden FILE...    compares the engine with the results of another implementation
//   starpo-bench environment TYPE CONFIG  plays an environment without a policy
//   starpo-bench kernels           measures each kernel of a decode step, and each plan of its products

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "config/run_config.h"
#include "engine/cpu/kernels/bf16_kernels.h"
#include "engine/cpu/kernels/isa.h"
#include "engine/cuda/choose_gpu.h"
#include "engine/engine.h"
#include "env/webshop/synthetic_catalogue.h"
#include "environments.h"
#include "golden.h"
#include "journal/journal.h"
#include "kernels.h"
#include "measure.h"
#include "model/folder.h"
#include "train/run/training_run.h"
#include "webshop.h"
#include "workload.h"

namespace {

using namespace starpo;
using Json = nlohmann::ordered_json;

// Sets random weights so large that attention, gates and the distribution over tokens are far from trivial.
void set_initial_weights(Network& network, ThreadPool& threads) {
  std::vector<float> weights(network.layout().size());
  write_initial_weights(network.layout(), 1, threads, [&](std::size_t first, std::span<const float> values) {
    std::ranges::copy(values, weights.begin() + first);
  });
  for (float& weight : weights)
    if (weight != 1) weight *= 3;
  network.write_weights(0, weights);
}

// Runs iterations of the run in a directory. Its journal contains their times.
int rehearse(const std::filesystem::path& directory, int iterations, int response_mean) {
  const RunConfig config = read_run_config(directory / "run.json");
  Journal journal(directory);
  TrainingRun run(directory, journal);
  run.load(config);
  const Philox random{config.seed, RandomStream::environment_noise};
  run.rehearse(iterations, [&](const EpisodeSpec& spec, int turn) {
    // Uniform between 0.5 and 1.5 times the mean. If the mean is the maximum, all responses have this length.
    const float draw =
        uniform_open(random(static_cast<std::uint32_t>(spec.seed), static_cast<std::uint32_t>(spec.index_in_group),
                            static_cast<std::uint32_t>(turn), 0)[0]);
    return response_mean >= config.rollout.max_response_tokens
               ? response_mean
               : static_cast<int>(static_cast<float>(response_mean) * (0.5f + draw) + 0.5f);
  });
  journal.stopped("completed", run.iteration());
  return 0;
}

int print_differences(const std::vector<std::string>& files, int threads, const EngineSettings& settings) {
  ThreadPool pool(threads);
  for (const auto& file : files) {
    const auto engine = make_engine(settings, pool);  // memory can be reserved only once per engine
    const GoldenDifferences differences = compare_with_golden(file, *engine, pool);
    std::cout << Json{{"file", std::filesystem::path(file).filename().string()},
                      {"device", engine->device()},
                      {"differences", differences.relative},
                      {"largest_logprob_difference", differences.largest_logprob}}
                     .dump()
              << std::endl;
  }
  return 0;
}

int print_kernel_times(const std::string& device, const cuda::TimedSteps& steps, const std::string& shape) {
  const auto gpu = choose_gpu(device);
  if (!gpu) throw Error("device_unavailable", "kernels are measured on a GPU", "use --device cuda");
  std::cout << to_json(cuda::time_kernels(gpu->index, steps), shape).dump() << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measure the speed of the engine.");
  app.fallthrough();  // before the subcommands, which inherit it
  int threads = 2;
  int micro_batch = 16;
  std::string isa, folder, clock, precision = "fp32", device = "cpu", exactness = "exact", only;
  app.add_option("--threads", threads)->check(CLI::Range(1, 256));
  app.add_option("--isa", isa)->check(CLI::IsMember({"scalar", "avx2", "avx512"}));
  app.add_option("--precision", precision)->check(CLI::IsMember({"fp32", "bf16"}));
  app.add_option("--device", device, "auto, cpu, cuda or cuda:0, cuda:1, ...");
  app.add_option("--exactness", exactness, "exactness on a GPU")->check(CLI::IsMember({"exact", "fast"}));
  app.add_option("--clock", clock, "processor: CPU time of the process, for a machine with other load")
      ->check(CLI::IsMember({"wall", "processor"}));
  app.add_option("--only", only, "measure only this part, for a profiler")
      ->check(CLI::IsMember({"training", "generation"}));
  app.add_option("--write", folder, "write the workload for another program and stop");
  bool name_bf16_kernels = false;
  app.add_flag("--bf16-kernels", name_bf16_kernels, "print the name of the bf16 kernels and stop");
  std::string shape;
  WorkloadSize size;
  app.add_option("--model", shape, "model folder whose architecture to use, with random weights. Default: the starter")
      ->check(CLI::ExistingDirectory);
  const auto add_size = [&](const char* name, int& value, const char* description) {
    app.add_option(name, value, description)->check(CLI::Range(1, 1000000));
  };
  add_size("--sequences", size.sequences, "training: sequences per optimizer step");
  add_size("--length", size.length, "training: tokens per sequence");
  add_size("--first-target", size.first_target, "training: tokens before the first target");
  add_size("--micro-batch", micro_batch, "training: sequences per micro-batch");
  add_size("--steps", size.steps, "training: timed optimizer steps");
  std::vector<int> groups{size.groups};
  app.add_option("--groups", groups, "generation: groups that share a prompt. Several values are measured in sequence")
      ->check(CLI::Range(1, 1000000));
  add_size("--group-size", size.group_size, "generation: sequences per group");
  add_size("--prompt", size.prompt, "generation: tokens per prompt");
  add_size("--sampled", size.sampled, "generation: sampled tokens per sequence");
  add_size("--repeats", size.repeats, "generation: timed rollouts");

  std::string run_directory;
  std::vector<std::string> goldens;
  int iterations = 3, response_mean = 100;
  auto* rehearsal =
      app.add_subcommand("rehearse",
                         "Run iterations with responses of given lengths, without evaluations and checkpoints. "
                         "Times are in the run's journal.");
  rehearsal->add_option("RUN_DIR", run_directory)->required()->check(CLI::ExistingDirectory);
  rehearsal->add_option("--iterations", iterations)->check(CLI::Range(1, 1000));
  rehearsal
      ->add_option("--response-mean", response_mean,
                   "mean tokens. At rollout.max_response_tokens, all responses have this length")
      ->check(CLI::Range(1, 65536));
  auto* golden = app.add_subcommand("golden", "Compare with the results of another implementation.");
  golden->add_option("FILE", goldens)->required()->check(CLI::ExistingFile);
  std::string timed = "0.5b";
  std::vector<int> rows{8, 16, 32, 64, 96, 128, 192, 256};
  int keys = 700;
  auto* kernels =
      app.add_subcommand("kernels", "Measure each kernel of a decode step in bf16, and each plan of its products.");
  kernels->add_option("--shape", timed)->check(CLI::IsMember({"0.5b", "1.5b", "tiny"}));
  kernels->add_option("--rows", rows, "sequences per step")->check(CLI::Range(1, 1024));
  kernels->add_option("--keys", keys, "cached tokens per sequence")->check(CLI::Range(1, 32768));
  auto* environment = app.add_subcommand("environment", "Play an environment without a policy.");
  std::string type, config;
  int episodes = 1000, at_once = 128, most_steps = 10;
  environment->add_option("TYPE", type)->required();
  environment->add_option("CONFIG", config, "JSON, as in run.json")->required();
  environment->add_option("--episodes", episodes)->check(CLI::Range(1, 1000000));
  environment->add_option("--at-once", at_once)->check(CLI::Range(1, 4096));
  environment->add_option("--most-steps", most_steps, "per episode")->check(CLI::Range(1, 1000));
  auto* webshop = app.add_subcommand("webshop", "Measure a catalogue of WebShop.");
  std::string catalogue, wrapper = "ragen_v1";
  int queries = 200, customers = 1000;
  std::uint32_t written = 0;
  webshop->add_option("CATALOGUE", catalogue)->required();
  webshop->add_option("--write", written,
                      "write a synthetic catalogue with this number of products to the folder CATALOGUE, and exit");
  webshop->add_option("--wrapper", wrapper)->check(CLI::IsMember({"none", "ragen_v1", "compact"}));
  webshop->add_option("--queries", queries)->check(CLI::Range(1, 1000000));
  webshop->add_option("--episodes", customers)->check(CLI::Range(0, 1000000));
  CLI11_PARSE(app, argc, argv);
  try {
    if (name_bf16_kernels) return std::cout << bf16_kernels_name() << "\n", 0;
    if (clock == "processor") use_processor_time();
    if (!isa.empty()) select_isa(*isa_from_name(isa));
    const EngineSettings settings{device, precision_from_name(precision),
                                  exactness == "fast" ? Exactness::fast : Exactness::exact};
    if (*rehearsal) return rehearse(run_directory, iterations, response_mean);
    if (*environment)
      return std::cout << measure_environment(type, config, episodes, at_once, most_steps).dump() << std::endl, 0;
    if (*webshop && written > 0) return SyntheticCatalogue(written, 1).write(catalogue), 0;
    if (*webshop) return std::cout << measure_webshop(catalogue, wrapper, queries, customers).dump() << std::endl, 0;
    if (*golden) return print_differences(goldens, threads, settings);
    if (*kernels) return print_kernel_times(device, {timed_shape(timed), rows, keys}, timed);
    if (size.sequences % micro_batch != 0 || size.first_target >= size.length)
      throw std::invalid_argument("--sequences must be a multiple of --micro-batch, and --first-target below --length");
    ThreadPool pool(threads);
    const auto engine = make_engine(settings, pool);
    EngineNeeds needs{.model = shape.empty() ? workload_model() : read_model_folder_config(shape)};
    needs.trains_policy = true;
    needs.groups = *std::ranges::max_element(groups);
    needs.slots = needs.groups * size.group_size;
    needs.context = size.prompt + size.sampled;
    needs.pass_tokens = std::max(micro_batch * size.length, needs.context);
    engine->reserve(needs);
    const auto network = engine->make_network(needs.model, ModelHead::language, NetworkUse::trained);
    set_initial_weights(*network, pool);
    const auto workload = [&](int count) {
      size.groups = count;
      return make_workload(network->layout().config().vocab_size, size);
    };
    if (!folder.empty()) return write_workload(workload(groups.front()), *network, folder), 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const Workload work = workload(groups[i]);
      Json result{{"isa", engine->instructions()},
                  {"device", engine->device()},
                  {"device_name", engine->device_name()},
                  {"threads", threads},
                  {"precision", precision},
                  {"parameters", network->layout().size()}};
      if (const auto choice = engine->product_choice()) result["products"] = *choice;
      if (only != "training") result["generation"] = measure_generation(*network, work);
      if (only != "generation" && i + 1 == groups.size())
        result["training"] = measure_training(*network, work, micro_batch);
      if (const auto refused = engine->refused_products()) result["refused_products"] = *refused;
      std::cout << result.dump() << std::endl;
    }
  } catch (const Error& error) {
    std::cerr << "error: " << error.what() << "\n  code: " << error.code() << "\n  hint: " << error.hint() << "\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
