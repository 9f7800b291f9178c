#include "measure.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/philox.h"

namespace starpo {

using Json = nlohmann::ordered_json;

namespace {

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

}  // namespace

void use_processor_time() { timed_clock = CLOCK_PROCESS_CPUTIME_ID; }

double time_rollout(Generator& generator, const Workload& work, std::uint32_t seed, SampledResponse& first) {
  const int slots = work.groups * work.group_size;
  const DrawSettings draws{{seed, RandomStream::train_sampling}, 1, {}, {}};
  std::vector<int> remaining(slots, work.sampled);
  std::vector<ResponseRequest> requests;
  std::vector<std::vector<Choice>> choices;
  const double start = seconds();
  generator.reset();
  for (int slot = 0; slot < slots; ++slot) {
    const int group = slot / work.group_size;
    generator.begin(slot, std::span(work.prompts).subspan(static_cast<std::size_t>(group) * work.prompt, work.prompt),
                    group, static_cast<std::uint32_t>(slot));
  }
  while (std::ranges::any_of(remaining, [](int tokens) { return tokens > 0; })) {
    requests.clear();
    for (int slot = 0; slot < slots; ++slot)
      if (remaining[slot] > 0) requests.push_back({slot, remaining[slot]});
    generator.generate(requests, draws, choices);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      remaining[requests[i].slot] -= static_cast<int>(choices[i].size());
      if (requests[i].slot > 0) continue;
      for (const Choice& choice : choices[i]) {
        first.ids.push_back(choice.id);
        first.logprobs.push_back(choice.logprob);
      }
    }
  }
  return seconds() - start;
}

Json measure_generation(Network& network, const Workload& work) {
  const int slots = work.groups * work.group_size, context = work.prompt + work.sampled;
  const auto generator = network.make_generator(slots, context);
  const auto pass = network.make_pass();
  std::vector<double> times;
  float largest_difference = 0;
  for (int repeat = 0; repeat <= work.repeats; ++repeat) {
    SampledResponse first;
    const double time = time_rollout(*generator, work, static_cast<std::uint32_t>(repeat), first);
    if (repeat > 0) times.push_back(time);
    PackedBatch batch;
    batch.tokens.assign(work.prompts.begin(), work.prompts.begin() + work.prompt);
    batch.tokens.insert(batch.tokens.end(), first.ids.begin(), first.ids.end());
    batch.sequence_starts = {0, context};
    for (int i = work.prompt; i < context; ++i) batch.targets.push_back(i);
    std::vector<float> training_logprobs(work.sampled), entropy(work.sampled);
    pass->forward(batch, 1, training_logprobs, entropy);
    largest_difference = 0;
    for (int i = 0; i < work.sampled; ++i)
      largest_difference = std::max(largest_difference, std::abs(training_logprobs[i] - first.logprobs[i]));
  }
  const double time = median(times);
  return {{"sequences", slots},
          {"forward_gap", largest_difference},
          {"tokens_per_second", slots * work.sampled / time},
          {"seconds", time}};
}

Json measure_training(Network& network, const Workload& work, int micro_batch) {
  const std::size_t per_sequence = work.length - work.first_target, targets = micro_batch * per_sequence;
  std::vector<float> logprobs(targets), entropies(targets);
  const auto pass = network.make_pass();
  const double weight =
      token_weights(std::vector<int>(work.sequences, static_cast<int>(per_sequence)), LossAverage::trajectory, 1)[0];
  std::vector<double> advantages;
  for (const double advantage : work.advantages) advantages.insert(advantages.end(), per_sequence, advantage);
  std::vector<double> whole, passes, update;
  Json result;
  for (int step = 0; step <= work.steps; ++step) {
    const double start = seconds();
    network.trained().clear_gradients();
    PolicyLossSums sums;
    for (int first = 0; first < work.sequences; first += micro_batch) {
      BatchLoss loss{Objective::policy, work.loss, {}, {}};
      for (std::size_t i = first; i < static_cast<std::size_t>(first + micro_batch); ++i)
        loss.sequences.push_back({std::span(work.rollout_logprobs).subspan(i * per_sequence, per_sequence),
                                  std::span(advantages).subspan(i * per_sequence, per_sequence),
                                  {},
                                  weight});
      pass->forward_backward(training_batch(work, first, micro_batch), 1, loss, logprobs, entropies, sums);
      if (step == 0 && first == 0)
        result["logprobs"] =
            std::vector<float>(logprobs.begin(), logprobs.begin() + std::min<std::ptrdiff_t>(64, std::ssize(logprobs)));
    }
    const double before = seconds();
    const double norm = take_step(network.trained(), {1e-4f, 0.9f, 0.999f, 1e-8f, 0.01f, 1.0f}).gradient_norm;
    const double end = seconds();
    result["loss_after"] = sums.loss;
    if (step == 0) {
      result["loss"] = sums.loss;
      result["gradient_norm"] = norm;
    } else {
      whole.push_back(end - start);
      passes.push_back(before - start);
      update.push_back(end - before);
    }
  }
  result["tokens_per_second"] = static_cast<double>(work.tokens.size()) / median(whole);
  result["seconds"] = {{"step", median(whole)}, {"learn", median(passes)}, {"update", median(update)}};
  return result;
}

}  // namespace starpo
