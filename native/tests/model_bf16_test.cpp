#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/aligned_buffer.h"
#include "engine/cpu/cpu_trainable.h"
#include "engine/cpu/decoder.h"
#include "engine/cpu/kernels/bf16_kernels.h"
#include "error_code.h"
#include "model_fixtures.h"

namespace starpo {

namespace {

struct NamedKernels {
  const char* name;
  const Bf16Kernels* kernels;
};

std::vector<NamedKernels> supported_bf16_kernels() {
  std::vector<NamedKernels> all;
  if (avx512bf16::supported()) all.push_back({"avx512_bf16", &avx512bf16::kernels()});
  if (amx::supported()) all.push_back({"amx_bf16", &amx::kernels()});
  return all;
}

// Returns whether to run the tests of bf16. The rejection is tested on every machine.
bool cpu_has_bf16() {
  if (bf16_kernels() != nullptr) return true;
  MESSAGE("skipped: this CPU has neither AVX512-BF16 nor AMX");
  return false;
}

double relative_error(std::span<const float> a, std::span<const float> b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    size += static_cast<double>(b[i]) * b[i];
  }
  return std::sqrt(difference / size);
}

// Weights of the scale of a trained model.
std::vector<float> moderate_weights(const ParameterLayout& layout) {
  std::vector<float> weights = initial_weights(layout, 3);
  for (float& weight : weights)
    if (weight != 1) weight *= 6;
  return weights;
}

}  // namespace

TEST_CASE("bfloat16 rounds ties to even over the whole range") {
  for (const float exact : {0.0f, -0.0f, 1.0f, -2.5f, 0x1p-133f, std::numeric_limits<float>::infinity()})
    CHECK(from_bf16(to_bf16(exact)) == exact);
  CHECK(from_bf16(to_bf16(1.0f + 0x1p-8f)) == 1.0f);            // a tie: down to even
  CHECK(from_bf16(to_bf16(1.0f + 0x3p-8f)) == 1.0f + 0x1p-6f);  // a tie: up to even
  CHECK(from_bf16(to_bf16(1.0f + 0x1p-8f + 0x1p-20f)) == 1.0f + 0x1p-7f);
  CHECK(from_bf16(to_bf16(std::numeric_limits<float>::max())) == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(from_bf16(to_bf16(std::nanf("1")))));
}

TEST_CASE("bfloat16 products equal those of the rounded numbers for all shapes") {
  if (!cpu_has_bf16()) return;
  for (const auto& [name, k] : supported_bf16_kernels())
    for (const int rows : {1, 12, 17, 33, 70})
      for (const int columns : {5, 16, 32, 43, 96})
        for (const int depth : {1, 20, 32, 71}) {
          CAPTURE(name);
          CAPTURE(rows);
          CAPTURE(columns);
          CAPTURE(depth);
          const auto x = random_values(1, static_cast<std::size_t>(rows) * depth),
                     w = random_values(2, static_cast<std::size_t>(depth) * columns);
          const auto start = random_values(3, static_cast<std::size_t>(rows) * columns),
                     bias = random_values(4, columns);
          AlignedBuffer a_memory(bf16_rows_size(rows, depth) / 2), b_memory(packed_bf16_size(depth, columns) / 2);
          Bf16 *const a = reinterpret_cast<Bf16*>(a_memory.data()), *const b = reinterpret_cast<Bf16*>(b_memory.data());
          k->round_rows(rows, depth, x.data(), depth, a);
          for (int d = 0; d < depth; ++d)
            for (int c = 0; c < columns; ++c)
              b[static_cast<std::size_t>(c / kPanel) * padded_depth(depth) * kPanel + (d / 2) * 2 * kPanel +
                (c % kPanel) * 2 + d % 2] = to_bf16(w[static_cast<std::size_t>(d) * columns + c]);
          const auto worst = [&](const std::vector<float>& c, auto first) {
            double error = 0;
            for (int r = 0; r < rows; ++r)
              for (int j = 0; j < columns; ++j) {
                double sum = first(r, j);
                for (int d = 0; d < depth; ++d)
                  sum += static_cast<double>(from_bf16(to_bf16(x[r * depth + d]))) *
                         from_bf16(to_bf16(w[d * columns + j]));
                error = std::max(error, std::abs(sum - c[r * columns + j]));
              }
            return error;
          };
          std::vector<float> c(static_cast<std::size_t>(rows) * columns, NAN);
          k->multiply(rows, columns, depth, a, b, nullptr, 0, c.data(), columns);
          CHECK(worst(c, [](int, int) { return 0.0; }) < 1e-5);
          k->multiply(rows, columns, depth, a, b, bias.data(), 0, c.data(), columns);
          CHECK(worst(c, [&](int, int j) { return bias[j]; }) < 1e-5);
          c = start;
          k->multiply(rows, columns, depth, a, b, c.data(), columns, c.data(), columns);
          CHECK(worst(c, [&](int r, int j) { return start[r * columns + j]; }) < 1e-5);
        }
}

TEST_CASE("bf16 stays close to fp32: log-probabilities within 0.03 nats, gradients within 3 %") {
  if (!cpu_has_bf16()) return;
  for (const Shape& shape : {Shape{2, 1, 64, true}, Shape{4, 2, 6, false}}) {
    const ModelConfig config = small_config(shape);
    ThreadPool threads(2);
    CpuModel exact(config, threads), rounded(config, threads, Precision::bf16);
    load(exact, moderate_weights(exact.layout()));
    load(rounded, moderate_weights(exact.layout()));
    const PackedBatch batch = random_batch(config, {30, 1, 130, 13});
    const TrainingResult expected = train(exact, {batch}, 1), result = train(rounded, {batch}, 1);
    float worst = 0;
    for (std::size_t i = 0; i < expected.logprobs.size(); ++i)
      worst = std::max(worst, std::abs(expected.logprobs[i] - result.logprobs[i]));
    CHECK(worst > 0);  // the fp32 path was not used
    CHECK(worst < 0.03f);
    CHECK(relative_error(result.gradients, expected.gradients) < 0.03);
  }
}

TEST_CASE(
    "bf16: results are bit-identical for any number of threads and micro-batches, and sampler and update "
    "log-probabilities are equal") {
  if (!cpu_has_bf16()) return;
  for (const Shape& shape : {Shape{2, 1, 64, true}, Shape{4, 2, 6, false}}) {
    const ModelConfig config = small_config(shape);
    const std::size_t vocab = config.vocab_size;
    const PackedBatch batch = random_batch(config, {30, 5, 130});
    TrainingResult expected;
    for (const int thread_count : {1, 2, 3}) {
      ThreadPool threads(thread_count);
      CpuModel model(config, threads, Precision::bf16);
      load(model, moderate_weights(model.layout()));
      const TrainingResult result = train(model, {batch}, 1);
      if (thread_count == 1) expected = result;
      CHECK(same_bits(result.logprobs, expected.logprobs));
      CHECK(same_bits(result.gradients, expected.gradients));

      // Decodes the first sequence in a slot: part of it as a prompt, the rest token by token.
      CpuDecoder decoder(model, 2, 30);
      std::vector<float> logits(vocab), logprob(1), entropy(1);
      std::size_t target = 0;
      for (int position = 0; position < 29; position = position == 0 ? 10 : position + 1) {
        const SlotTokens entry{1, std::span(batch.tokens).subspan(position, position == 0 ? 10 : 1)};
        decoder.extend({&entry, 1}, logits);
        const int next = position == 0 ? 10 : position + 1;
        while (target < batch.targets.size() && batch.targets[target] < next) ++target;
        if (batch.targets[target] != next) continue;
        logprob_and_entropy(logits, config.vocab_size, std::span(batch.tokens).subspan(next, 1), 1, logprob, entropy,
                            threads);
        CHECK(same_bits(logprob, std::span(expected.logprobs).subspan(target, 1)));
      }
    }
  }
}

TEST_CASE("bf16 training learns a short text in sixty steps") {
  if (!cpu_has_bf16()) return;
  ThreadPool threads(2);
  const ModelConfig config = small_config({2, 1, 64, true});
  CpuModel model(config, threads, Precision::bf16);
  load(model, initial_weights(model.layout(), 1));
  const PackedBatch batch = random_batch(config, {24, 24});
  const std::size_t targets = batch.targets.size();
  std::vector<float> logprobs(targets), entropies(targets), slopes(targets, -1.0f / static_cast<float>(targets)),
      none(targets);
  std::vector<float> gradients(model.layout().size());
  const std::vector<std::uint8_t> decayed(gradients.size());
  AdamW optimizer(gradients.size());
  CpuTrainingPass pass(model);
  const auto loss = [&] {
    return -std::accumulate(logprobs.begin(), logprobs.end(), 0.0) / static_cast<double>(targets);
  };
  double first = 0;
  for (int step = 0; step < 60; ++step) {
    std::fill(gradients.begin(), gradients.end(), 0.0f);
    pass.forward(batch, 1, logprobs, entropies);
    if (step == 0) first = loss();
    pass.backward(slopes, none, gradients);
    const double squares = sum_of_squares(gradients, threads);
    optimizer.step(model.mutable_weights(), gradients, decayed, {0.01f, 0.9f, 0.99f, 1e-8f, 0, 0},
                   clip_scale(reduced_norm({&squares, 1}), 1), threads);
    model.weights_changed();
  }
  CHECK(first > 3);
  CHECK(loss() < 0.5);
}

TEST_CASE("bf16 is rejected with a hint if the instructions are missing") {
  const WithIsa selected(Isa::scalar);
  ThreadPool threads(1);
  CHECK(error_code_of([&] { CpuModel(small_config({2, 1, 64, true}), threads, Precision::bf16); }) ==
        "precision_unsupported");
}

}  // namespace starpo
