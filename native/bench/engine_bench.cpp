// Trained and generated tokens a second of a starter-sized policy, as one line of JSON.
// starpo-bench [threads] [scalar|avx2|avx512] [kv_heads] [intermediate]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/philox.h"
#include "model/decoder.h"
#include "model/training_pass.h"
#include "ops/cpu/isa.h"
#include "optimizer/adamw.h"

namespace {

using namespace starpo;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::uint32_t random_below(std::uint32_t what, std::uint32_t index, std::uint32_t bound) {
  return Philox{1, RandomStream::environment_noise}(what, index, 0, 0)[0] % bound;
}

// Sequences of 60 to 350 tokens, about 4,096 in all; all but each sequence's first 40 are targets.
PackedBatch make_batch(const ModelConfig& config) {
  PackedBatch batch;
  batch.sequence_starts.push_back(0);
  for (std::uint32_t sequence = 0; batch.tokens.size() < 3900; ++sequence) {
    const int length = static_cast<int>(60 + random_below(1, sequence, 291));
    for (int i = 0; i < length; ++i) {
      if (i >= 40) batch.targets.push_back(static_cast<std::int32_t>(batch.tokens.size()));
      batch.tokens.push_back(static_cast<std::int32_t>(random_below(2, static_cast<std::uint32_t>(batch.tokens.size()), config.vocab_size)));
    }
    batch.sequence_starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
  }
  return batch;
}

struct Timing {
  double best = 0, median = 0;  // tokens a second
  std::vector<double> rates;

  void add(double rate) {
    rates.push_back(rate);
    best = rate > best ? rate : best;
    std::vector<double> sorted = rates;
    std::sort(sorted.begin(), sorted.end());
    median = sorted[sorted.size() / 2];
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int thread_count = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  if (argc > 2)
    if (const auto isa = isa_from_name(argv[2])) select_isa(*isa);
  ModelConfig config;
  config.vocab_size = 512;
  config.hidden_size = 128;
  config.num_hidden_layers = 5;
  config.num_attention_heads = 2;
  config.num_key_value_heads = argc > 3 ? std::atoi(argv[3]) : 1;
  config.intermediate_size = argc > 4 ? std::atoi(argv[4]) : 344;
  config.head_dim = 64;
  config.max_position_embeddings = 512;
  config.rope_theta = 10000;
  config.rms_norm_eps = 1e-6f;
  config.tie_word_embeddings = true;

  ThreadPool threads(thread_count);
  Model model(config, threads);
  const std::vector<float> weights = initial_weights(model.layout(), 1);
  std::copy(weights.begin(), weights.end(), model.mutable_weights().begin());
  model.weights_changed();

  const PackedBatch batch = make_batch(config);
  const std::size_t targets = batch.targets.size();
  std::vector<float> logprobs(targets), entropies(targets), logprob_gradients(targets, -1.0f / targets), entropy_gradients(targets, -0.001f / targets);
  std::vector<float> gradients(model.layout().size());
  const std::vector<std::uint8_t> decayed(gradients.size(), 1);
  AdamW optimizer(gradients.size());
  TrainingPass pass(model);
  Timing training, forward, backward, update;
  float norm = 0;
  for (int step = 0; step < 13; ++step) {
    const double start = seconds();
    std::fill(gradients.begin(), gradients.end(), 0.0f);
    pass.forward(batch, 1, logprobs, entropies);
    const double middle = seconds();
    pass.backward(logprob_gradients, entropy_gradients, gradients);
    const double end = seconds();
    norm = optimizer.step(model.mutable_weights(), gradients, decayed, {1e-4f, 0.9f, 0.999f, 1e-8f, 0.01f, 1.0f}, threads);
    model.weights_changed();
    const double done = seconds();
    if (step < 2) continue;
    const double tokens = static_cast<double>(batch.tokens.size());
    training.add(tokens / (done - start));
    forward.add(tokens / (middle - start));
    backward.add(tokens / (end - middle));
    update.add(tokens / (done - end));
  }

  // 128 slots with a prompt of 60 tokens each, then one token a slot a step, up to a context of 360.
  constexpr int slots = 128, prompt = 60, steps = 300;
  Decoder decoder(model, slots, 512);
  std::vector<std::int32_t> next(slots);
  std::vector<SlotTokens> entries;
  std::vector<float> logits(static_cast<std::size_t>(slots) * config.vocab_size), sampled(slots), entropy(slots);
  Timing generation;
  double prefill = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    entries.clear();
    for (int slot = 0; slot < slots; ++slot) {
      decoder.clear(slot);
      entries.push_back({slot, std::span(batch.tokens).subspan(slot, prompt)});
    }
    const double before = seconds();
    decoder.extend(entries, logits);
    const double start = seconds();
    prefill = slots * prompt / (start - before);
    for (int slot = 0; slot < slots; ++slot) entries[slot].tokens = std::span(next).subspan(slot, 1);
    for (int step = 0; step < steps; ++step) {
      for (int slot = 0; slot < slots; ++slot) {
        const auto row = logits.begin() + slot * config.vocab_size;
        next[slot] = static_cast<std::int32_t>(std::max_element(row, row + config.vocab_size) - row);
      }
      logprob_and_entropy(logits, config.vocab_size, next, 1, sampled, entropy, threads);
      decoder.extend(entries, logits);
    }
    generation.add(slots * steps / (seconds() - start));
  }
  std::printf(
      "{\"isa\": \"%s\", \"threads\": %d, \"parameters\": %zu, \"batch_tokens\": %zu, \"gradient_norm\": %g, "
      "\"trained_tokens_per_second\": {\"best\": %.0f, \"median\": %.0f, \"forward\": %.0f, \"backward\": %.0f, \"update\": %.0f}, "
      "\"generated_tokens_per_second\": {\"best\": %.0f, \"median\": %.0f, \"prefill\": %.0f}}\n",
      isa_name(selected_isa()), thread_count, gradients.size(), batch.tokens.size(), static_cast<double>(norm), training.best, training.median,
      forward.best, backward.best, update.best, generation.best, generation.median, prefill);
}
