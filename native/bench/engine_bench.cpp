// Trained and generated tokens a second of a starter-shaped policy, or one of a model folder's shape, as one line of JSON.
//   starpo-bench [--threads 2] [--isa scalar|avx2|avx512] [--precision fp32|bf16] [--clock wall|processor] [--model FOLDER] [sizes]
//   starpo-bench --write FOLDER      the same weights and tokens for another program to compute
//   starpo-bench rehearse RUN_DIR --reply-mean 100 --iterations 3     whole iterations of a run with replies of given lengths
//   starpo-bench golden FILE...      how far the engine is from what another implementation computed

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "config/run_config.h"
#include "engine/engine.h"
#include "golden.h"
#include "journal/journal.h"
#include "model/folder.h"
#include "engine/cpu/kernels/bf16_kernels.h"
#include "engine/cpu/kernels/isa.h"
#include "train/run/training_run.h"
#include "workload.h"

namespace {

using namespace starpo;
using Json = nlohmann::ordered_json;

int micro_batch = 16;  // sequences

clockid_t timed_clock = CLOCK_MONOTONIC;

double seconds() {
  timespec now;
  clock_gettime(timed_clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void set_initial_weights(Network& network) {
  std::vector<float> weights = initial_weights(network.layout(), 1);
  for (float& weight : weights)
    if (weight != 1) weight *= 3;
  network.write_weights(0, weights);
}

Json train(Network& network, const Workload& work) {
  const std::size_t per_sequence = work.length - work.first_target, targets = micro_batch * per_sequence;
  std::vector<float> logprobs(targets), entropies(targets);
  const auto pass = network.make_pass();
  const double weight = token_weights(std::vector<int>(work.sequences, static_cast<int>(per_sequence)), LossAverage::trajectory, 1)[0];
  std::vector<double> advantages;
  for (const double advantage : work.advantages) advantages.insert(advantages.end(), per_sequence, advantage);
  std::vector<double> whole, learning, update;
  Json facts;
  for (int step = 0; step <= work.steps; ++step) {
    const double start = seconds();
    network.trained().clear_gradients();
    PolicyLossSums sums;
    for (int first = 0; first < work.sequences; first += micro_batch) {
      BatchLoss loss{Objective::policy, work.loss, {}, {}};
      for (std::size_t i = first; i < static_cast<std::size_t>(first + micro_batch); ++i)
        loss.sequences.push_back({std::span(work.rollout_logprobs).subspan(i * per_sequence, per_sequence), std::span(advantages).subspan(i * per_sequence, per_sequence), {}, weight});
      pass->learn(training_batch(work, first, micro_batch), 1, loss, logprobs, entropies, sums);
      if (step == 0 && first == 0) facts["logprobs"] = std::vector<float>(logprobs.begin(), logprobs.begin() + std::min<std::ptrdiff_t>(64, std::ssize(logprobs)));
    }
    const double before = seconds();
    const double norm = take_step(network.trained(), {1e-4f, 0.9f, 0.999f, 1e-8f, 0.01f, 1.0f}).gradient_norm;
    const double end = seconds();
    facts["loss_after"] = sums.loss;
    if (step == 0) {
      facts["loss"] = sums.loss;
      facts["gradient_norm"] = norm;
    } else {
      whole.push_back(end - start);
      learning.push_back(before - start);
      update.push_back(end - before);
    }
  }
  facts["tokens_per_second"] = static_cast<double>(work.tokens.size()) / median(whole);
  facts["seconds"] = {{"step", median(whole)}, {"learn", median(learning)}, {"update", median(update)}};
  return facts;
}

// As a rollout does it: each group's prompt once, then one token a slot a step, drawn, with its log-probability and the entropy.
Json generate(Network& network, const Workload& work) {
  const int slots = work.groups * work.group_size, context = work.prompt + work.sampled;
  const auto generator = network.make_generator(slots, context);
  const auto pass = network.make_pass();
  std::vector<double> rates;
  Json facts;
  for (int repeat = 0; repeat <= work.repeats; ++repeat) {
    const DrawSettings draws{{static_cast<std::uint32_t>(repeat), RandomStream::train_sampling}, 1, {}, {}};
    std::vector<int> left(slots, work.sampled);
    std::vector<std::int32_t> sequence(work.prompts.begin(), work.prompts.begin() + work.prompt);
    std::vector<float> first_logprobs;
    std::vector<ReplyRequest> requests;
    std::vector<std::vector<Choice>> choices;
    const double start = seconds();
    for (int slot = 0; slot < slots; ++slot) {
      const int group = slot / work.group_size;
      generator->begin(slot, std::span(work.prompts).subspan(static_cast<std::size_t>(group) * work.prompt, work.prompt), group, static_cast<std::uint32_t>(slot));
    }
    while (std::ranges::any_of(left, [](int tokens) { return tokens > 0; })) {
      requests.clear();
      for (int slot = 0; slot < slots; ++slot)
        if (left[slot] > 0) requests.push_back({slot, left[slot]});
      generator->generate(requests, draws, choices);
      for (std::size_t i = 0; i < requests.size(); ++i) {
        left[requests[i].slot] -= static_cast<int>(choices[i].size());
        if (requests[i].slot > 0) continue;
        for (const Choice& choice : choices[i]) {
          sequence.push_back(choice.id);
          first_logprobs.push_back(choice.logprob);
        }
      }
    }
    const double elapsed = seconds() - start;
    for (int slot = 0; slot < slots; ++slot) generator->end(slot);
    if (repeat > 0) rates.push_back(slots * work.sampled / elapsed);
    PackedBatch batch;
    batch.tokens = sequence;
    batch.sequence_starts = {0, context};
    for (int i = work.prompt; i < context; ++i) batch.targets.push_back(i);
    std::vector<float> again(work.sampled), entropy(work.sampled);
    pass->forward(batch, 1, again, entropy);
    float gap = 0;
    for (int i = 0; i < work.sampled; ++i) gap = std::max(gap, std::abs(again[i] - first_logprobs[i]));
    facts["forward_gap"] = gap;
  }
  facts["tokens_per_second"] = median(rates);
  return facts;
}

// Runs iterations of the run in a directory; its journal tells how long each took.
int rehearse(const std::filesystem::path& directory, int iterations, int reply_mean) {
  const RunConfig config = read_run_config(directory / "run.json");
  Journal journal(directory);
  TrainingRun run(directory, journal);
  run.load(config);
  const Philox random{config.seed, RandomStream::environment_noise};
  run.rehearse(iterations, [&](const EpisodeSpec& spec, int turn) {
    // Uniform from half to one and a half of the mean; where the mean is all that is allowed, always that.
    const float draw = uniform_open(random(static_cast<std::uint32_t>(spec.seed), static_cast<std::uint32_t>(spec.member), static_cast<std::uint32_t>(turn), 0)[0]);
    return reply_mean >= config.rollout.max_response_tokens ? reply_mean : static_cast<int>(static_cast<float>(reply_mean) * (0.5f + draw) + 0.5f);
  });
  journal.stopped("completed", run.iteration());
  return 0;
}

int print_differences(const std::vector<std::string>& files, int threads, const EngineSettings& settings) {
  ThreadPool pool(threads);
  for (const auto& file : files) {
    const auto engine = make_engine(settings, pool);  // one takes its memory once
    std::cout << Json{{"file", std::filesystem::path(file).filename().string()}, {"device", engine->device()}, {"differences", compare_with_golden(file, *engine, pool)}}.dump() << std::endl;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How fast is the engine?");
  int threads = 2;
  std::string isa, folder, clock, precision = "fp32", device = "cpu", exactness = "exact", only;
  app.add_option("--threads", threads)->check(CLI::Range(1, 256));
  app.add_option("--isa", isa)->check(CLI::IsMember({"scalar", "avx2", "avx512"}));
  app.add_option("--precision", precision)->check(CLI::IsMember({"fp32", "bf16"}));
  app.add_option("--device", device, "auto, cpu, cuda or cuda:0, cuda:1, ...");
  app.add_option("--exactness", exactness, "of a GPU")->check(CLI::IsMember({"exact", "fast"}));
  app.add_option("--clock", clock, "processor: one thread's time on a machine that others use")->check(CLI::IsMember({"wall", "processor"}));
  app.add_option("--only", only, "for a profiler")->check(CLI::IsMember({"training", "generation"}));
  app.add_option("--write", folder, "write the workload for another program and stop");
  bool name_bf16_kernels = false;
  app.add_flag("--bf16-kernels", name_bf16_kernels, "print what multiplies bfloat16 numbers here and stop");
  std::string shape;
  WorkloadSize size;
  app.add_option("--model", shape, "a model folder: its shape, with random weights; else the starter's")->check(CLI::ExistingDirectory);
  const auto add_size = [&](const char* name, int& value, const char* description) { app.add_option(name, value, description)->check(CLI::Range(1, 1000000)); };
  add_size("--sequences", size.sequences, "training: sequences an optimiser step");
  add_size("--length", size.length, "training: tokens a sequence");
  add_size("--first-target", size.first_target, "training: tokens before the first that is trained");
  add_size("--micro-batch", micro_batch, "training: sequences of one forward and backward");
  add_size("--steps", size.steps, "training: timed optimiser steps");
  add_size("--groups", size.groups, "generation: groups that share a prompt");
  add_size("--group-size", size.group_size, "generation: sequences a group");
  add_size("--prompt", size.prompt, "generation: tokens a prompt");
  add_size("--sampled", size.sampled, "generation: tokens drawn a sequence");
  add_size("--repeats", size.repeats, "generation: timed rollouts");

  std::string run_directory;
  std::vector<std::string> goldens;
  int iterations = 3, reply_mean = 100;
  auto* rehearsal = app.add_subcommand("rehearse", "Iterations of a run with replies of given lengths: no evaluation, no checkpoint; times are in the run's journal");
  rehearsal->add_option("RUN_DIR", run_directory)->required()->check(CLI::ExistingDirectory);
  rehearsal->add_option("--iterations", iterations)->check(CLI::Range(1, 1000));
  rehearsal->add_option("--reply-mean", reply_mean, "tokens; at rollout.max_response_tokens all are as long")->check(CLI::Range(1, 65536));
  auto* golden = app.add_subcommand("golden", "Compare with what another implementation computed");
  golden->add_option("FILE", goldens)->required()->check(CLI::ExistingFile);
  app.fallthrough();
  CLI11_PARSE(app, argc, argv);
  try {
    if (name_bf16_kernels) return std::cout << bf16_kernels_name() << "\n", 0;
    if (clock == "processor") timed_clock = CLOCK_PROCESS_CPUTIME_ID;
    if (!isa.empty()) select_isa(*isa_from_name(isa));
    const EngineSettings settings{device, precision_from_name(precision), exactness == "fast" ? Exactness::fast : Exactness::exact};
    if (*rehearsal) return rehearse(run_directory, iterations, reply_mean);
    if (*golden) return print_differences(goldens, threads, settings);
    if (size.sequences % micro_batch != 0 || size.first_target >= size.length) throw std::invalid_argument("--sequences must be a multiple of --micro-batch, and --first-target below --length");
    ThreadPool pool(threads);
    const auto engine = make_engine(settings, pool);
    EngineNeeds needs{.model = shape.empty() ? workload_model() : read_model_folder_config(shape)};
    needs.trains_policy = true;
    needs.slots = size.groups * size.group_size;
    needs.groups = size.groups;
    needs.context = size.prompt + size.sampled;
    needs.pass_tokens = std::max(micro_batch * size.length, needs.context);
    engine->reserve(needs);
    const auto network = engine->make_network(needs.model, ModelHead::language, NetworkUse::trained);
    set_initial_weights(*network);
    const Workload work = make_workload(network->layout().config().vocab_size, size);
    if (!folder.empty()) return write_workload(work, *network, folder), 0;
    Json result{{"isa", engine->instructions()}, {"device", engine->device()}, {"device_name", engine->device_name()}, {"threads", threads}, {"precision", precision}, {"parameters", network->layout().size()}};
    if (only != "training") result["generation"] = generate(*network, work);
    if (only != "generation") result["training"] = train(*network, work);
    std::cout << result.dump() << "\n";
  } catch (const Error& error) {
    std::cerr << "error: " << error.what() << "\n  code: " << error.code() << "\n  hint: " << error.hint() << "\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
