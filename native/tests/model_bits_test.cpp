#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "engine/cpu/decoder.h"
#include "engine/cpu/kernels/bf16_kernels.h"
#include "model_fixtures.h"

// Slots, batch composition, the split of tokens over calls, threads, instruction sets and micro-batches must not change
// a bit.
namespace starpo {

namespace {

constexpr float kTemperature = 0.7f;

ModelConfig decode_config() {
  ModelConfig config = small_config({2, 1, 64, true});  // decode has a separate path for this head dimension
  config.vocab_size = 70;
  return config;
}

struct Setting {
  explicit Setting(const ModelConfig& config, int thread_count = 2, Precision precision = Precision::fp32)
      : threads(thread_count), model(config, threads, precision) {
    load(model, large_weights(model.layout()));
  }
  ThreadPool threads;
  CpuModel model;
};

// Includes bf16 if the CPU supports it. Its bits differ from fp32, but must be reproducible too.
std::vector<Precision> supported_precisions() {
  std::vector<Precision> all{Precision::fp32};
  if (bf16_kernels() != nullptr) all.push_back(Precision::bf16);
  return all;
}

// Returns the logits after every token of a sequence that is decoded alone, one token at a time.
std::vector<float> decode_alone(const CpuModel& model, std::span<const std::int32_t> tokens) {
  const std::size_t vocab = model.layout().config().vocab_size;
  CpuDecoder decoder(model, 1, static_cast<int>(tokens.size()));
  std::vector<float> logits(tokens.size() * vocab);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const SlotTokens entry{0, tokens.subspan(t, 1)};
    decoder.extend({&entry, 1}, std::span(logits).subspan(t * vocab, vocab));
  }
  return logits;
}

std::span<const float> row(const std::vector<float>& logits, std::size_t index, std::size_t vocab) {
  return std::span(logits).subspan(index * vocab, vocab);
}

}  // namespace

TEST_CASE("the logits of a slot don't depend on number and order of slots or on threads") {
  const ModelConfig config = decode_config();
  const std::size_t vocab = config.vocab_size;
  const std::vector<std::int32_t> tokens = random_batch(config, {40}).tokens;
  for (const Precision precision : supported_precisions()) {
    const std::vector<float> expected = decode_alone(Setting(config, 1, precision).model, tokens);
    for (const int thread_count : {1, 2, 3})
      for (const int slots : {1, 7, 128}) {
        const Setting setting(config, thread_count, precision);
        CAPTURE(thread_count);
        CAPTURE(slots);
        CpuDecoder decoder(setting.model, slots, 40);
        // Slot i starts i % 5 steps late, so that lengths differ. Entries are in descending order.
        for (std::size_t step = 0; step < tokens.size(); ++step) {
          std::vector<SlotTokens> entries;
          for (int slot = slots - 1; slot >= 0; --slot)
            if (step >= static_cast<std::size_t>(slot % 5))
              entries.push_back({slot, std::span(tokens).subspan(step - slot % 5, 1)});
          std::vector<float> logits(entries.size() * vocab);
          decoder.extend(entries, logits);
          bool same = true;
          for (std::size_t i = 0; i < entries.size(); ++i)
            same &= same_bits(row(logits, i, vocab), row(expected, step - entries[i].slot % 5, vocab));
          CHECK(same);
        }
      }
  }
}

TEST_CASE("the logits of a prompt are the same in one call, split, next to other slots and as a copied prefix") {
  for (const Precision precision : supported_precisions())
    for (const Shape& shape : {Shape{2, 1, 64, true}, Shape{4, 2, 6, false}}) {
      const ModelConfig config = small_config(shape);
      const std::size_t vocab = config.vocab_size;
      const Setting setting(config, 2, precision);
      const std::vector<std::int32_t> tokens = random_batch(config, {75}).tokens;
      const std::span<const std::int32_t> all(tokens);
      const std::vector<float> expected = decode_alone(setting.model, tokens);
      const auto last = row(expected, tokens.size() - 1, vocab);

      CpuDecoder decoder(setting.model, 5, 80);
      std::vector<float> logits(3 * vocab);
      // Slot 0 receives all tokens at once, slot 1 in two parts, slot 2 single tokens in the same calls.
      const SlotTokens first[] = {{2, all.subspan(0, 1)}, {0, all}, {1, all.subspan(0, 33)}};
      decoder.extend(first, logits);
      CHECK(same_bits(row(logits, 0, vocab), row(expected, 0, vocab)));
      CHECK(same_bits(row(logits, 1, vocab), last));
      CHECK(same_bits(row(logits, 2, vocab), row(expected, 32, vocab)));
      const SlotTokens second[] = {{1, all.subspan(33)}, {2, all.subspan(1, 1)}};
      decoder.extend(second, std::span(logits).first(2 * vocab));
      CHECK(same_bits(row(logits, 0, vocab), last));
      CHECK(same_bits(row(logits, 1, vocab), row(expected, 1, vocab)));

      decoder.copy(0, 3, 40);
      CHECK(decoder.length(3) == 40);
      const SlotTokens third{3, all.subspan(40)};
      decoder.extend({&third, 1}, std::span(logits).first(vocab));
      CHECK(same_bits(row(logits, 0, vocab), last));

      // A cleared slot is empty.
      decoder.clear(0);
      CHECK(decoder.length(0) == 0);
      const SlotTokens again{0, all.subspan(0, 9)};
      decoder.extend({&again, 1}, std::span(logits).first(vocab));
      CHECK(same_bits(row(logits, 0, vocab), row(expected, 8, vocab)));
    }
}

TEST_CASE("log-probabilities and entropies of sampler and update are equal") {
  const ModelConfig config = decode_config();
  const std::size_t vocab = config.vocab_size;
  Setting setting(config);
  const PackedBatch batch = random_batch(config, {30, 1, 101, 13});
  const TrainingResult trained = train(setting.model, {batch}, kTemperature);
  std::vector<float> logits;
  std::vector<std::int32_t> targets;
  for (std::size_t i = 0, target = 0; i + 1 < batch.sequence_starts.size(); ++i) {
    const int begin = batch.sequence_starts[i], end = batch.sequence_starts[i + 1];
    const std::vector<float> all = decode_alone(setting.model, std::span(batch.tokens).subspan(begin, end - begin));
    for (; target < batch.targets.size() && batch.targets[target] < end; ++target) {
      const auto predicting = row(all, batch.targets[target] - 1 - begin, vocab);
      logits.insert(logits.end(), predicting.begin(), predicting.end());
      targets.push_back(batch.tokens[batch.targets[target]]);
    }
  }
  std::vector<float> logprobs(targets.size()), entropies(targets.size());
  logprob_and_entropy(logits, config.vocab_size, targets, kTemperature, logprobs, entropies, setting.threads);
  CHECK(same_bits(logprobs, trained.logprobs));
  CHECK(same_bits(entropies, trained.entropies));
}

TEST_CASE("gradients don't depend on threads or on how a mini-batch is split") {
  for (const Precision precision : supported_precisions())
    for (const bool tied : {true, false}) {
      ModelConfig config = small_config({4, 2, 6, tied});
      const std::vector<int> lengths = {30, 5, 1, 150, 22, 17, 64, 9};
      const PackedBatch whole = random_batch(config, lengths);
      const TrainingResult expected = train(Setting(config, 1, precision).model, {whole}, kTemperature);
      CHECK(std::any_of(expected.gradients.begin(), expected.gradients.end(), [](float g) { return g != 0; }));

      // Returns the sequences [first, last) as a micro-batch.
      const auto part = [&](int first, int last) {
        const int begin = whole.sequence_starts[first], end = whole.sequence_starts[last];
        PackedBatch batch;
        batch.tokens.assign(whole.tokens.begin() + begin, whole.tokens.begin() + end);
        for (int i = first; i <= last; ++i) batch.sequence_starts.push_back(whole.sequence_starts[i] - begin);
        for (const std::int32_t target : whole.targets)
          if (target >= begin && target < end) batch.targets.push_back(target - begin);
        return batch;
      };
      const std::vector<std::vector<PackedBatch>> splits = {
          {whole}, {part(0, 3), part(3, 8)}, {part(0, 1), part(1, 2), part(2, 3), part(3, 4), part(4, 7), part(7, 8)}};
      for (const int thread_count : {1, 2, 3})
        for (const auto& split : splits) {
          const Setting setting(config, thread_count, precision);
          const TrainingResult result = train(setting.model, split, kTemperature);
          CAPTURE(thread_count);
          CHECK(same_bits(result.logprobs, expected.logprobs));
          CHECK(same_bits(result.entropies, expected.entropies));
          CHECK(same_bits(result.gradients, expected.gradients));
        }
    }
}

TEST_CASE("all instruction sets compute the same logits, log-probabilities and gradients") {
  for (const Shape& shape : {Shape{2, 1, 64, true}, Shape{4, 2, 6, false}}) {
    const ModelConfig config = small_config(shape);
    Setting setting(config);
    const PackedBatch batch = random_batch(config, {30, 1, 130, 13});
    const auto compute = [&](Isa isa) {
      const WithIsa selected(isa);
      setting.model.weights_changed();
      return std::pair(decode_alone(setting.model, std::span(batch.tokens).first(45)),
                       train(setting.model, {batch}, kTemperature));
    };
    const auto [logits, expected] = compute(Isa::scalar);
    for (const Isa isa : supported_isas()) {
      CAPTURE(isa_name(isa));
      const auto [other_logits, result] = compute(isa);
      CHECK(same_bits(other_logits, logits));
      CHECK(same_bits(result.logprobs, expected.logprobs));
      CHECK(same_bits(result.entropies, expected.entropies));
      CHECK(same_bits(result.gradients, expected.gradients));
    }
  }
}

TEST_CASE("initial weights are a function of the seed") {
  const ParameterLayout layout(small_config({4, 2, 6, false}));
  const std::vector<float> weights = initial_weights(layout, 7);
  CHECK(same_bits(weights, initial_weights(layout, 7)));
  ModelConfig many = small_config({4, 2, 6, false});
  many.vocab_size = 30000;  // more than one part
  const ParameterLayout wide(many);
  CHECK(same_bits(initial_weights(wide, 7), initial_weights(wide, 7, 3)));
  CHECK_FALSE(same_bits(weights, initial_weights(layout, 8)));
  const auto deviation = [&](const char* name) {
    const TensorSlot& tensor = layout.find(name);
    const auto values = std::span(weights).subspan(tensor.offset, tensor.size);
    return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0) / values.size());
  };
  CHECK(deviation("model.embed_tokens.weight") == doctest::Approx(0.02).epsilon(0.1));
  CHECK(deviation("model.layers.1.mlp.down_proj.weight") ==
        doctest::Approx(0.01).epsilon(0.1));  // 0.02 / sqrt(2 layers)
  CHECK(weights[layout.find("model.norm.weight").offset] == 1);
  CHECK(weights[layout.find("model.layers.0.self_attn.k_proj.bias").offset] == 0);
}

TEST_CASE("calls with invalid sizes are rejected") {
  const ModelConfig config = decode_config();
  Setting setting(config);
  CpuDecoder decoder(setting.model, 2, 4);
  std::vector<float> logits(config.vocab_size);
  const std::vector<std::int32_t> tokens = {1, 2, 3, 4, 5}, unknown = {70};
  const auto extend = [&](int slot, std::span<const std::int32_t> list) {
    const SlotTokens entry{slot, list};
    decoder.extend({&entry, 1}, logits);
  };
  CHECK_THROWS_AS(extend(0, tokens), std::out_of_range);
  CHECK_THROWS_AS(extend(2, std::span(tokens).first(1)), std::out_of_range);
  CHECK_THROWS_AS(extend(0, unknown), std::out_of_range);
  CHECK_THROWS_AS(extend(0, {}), std::invalid_argument);
  CHECK_THROWS_AS(decoder.copy(0, 1, 1), std::out_of_range);
  CHECK(decoder.length(0) == 0);

  CpuTrainingPass pass(setting.model);
  PackedBatch batch = random_batch(config, {4, 4});
  batch.targets = {4};  // the first token of a sequence can't be predicted
  std::vector<float> one(1), other(1);
  CHECK_THROWS_AS(pass.forward(batch, 1, one, other), std::invalid_argument);
}

}  // namespace starpo
