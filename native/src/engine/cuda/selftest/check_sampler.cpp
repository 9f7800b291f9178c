#include <cmath>
#include <limits>

#include "engine/cpu/sampler.h"
#include "engine/cuda/kernels/sampler.h"
#include "engine/cuda/selftest/arrays.h"

namespace starpo::cuda {
namespace {

struct Drawn {
  std::vector<std::int32_t> ids, stops;
  std::vector<float> logprobs, entropies;
};

constexpr Philox kRandom{17, RandomStream::train_sampling};
constexpr std::uint32_t kIteration = 3;

// Samples from each row of logits [rows, stride]. Row r is episode r / 7 at position first_position + r.
Drawn draw(Stream& stream, const std::vector<float>& logits, int vocab, int stride, const SamplingSettings& sampling,
           const std::vector<std::int32_t>& stop_ids = {}, int first_position = 0) {
  const int rows = static_cast<int>(logits.size()) / stride;
  std::vector<std::int32_t> episodes, positions;
  for (int r = 0; r < rows; ++r) {
    episodes.push_back(r / 7);
    positions.push_back(first_position + r);
  }
  auto buffer = on_device(stream, logits);
  auto settings = on_device(stream, std::vector<SamplerSettings>{{sampling, kRandom, kIteration}});
  auto episode_buffer = on_device(stream, episodes), position_buffer = on_device(stream, positions),
       stop_buffer = on_device(stream, stop_ids), ids = poisoned<std::int32_t>(stream, rows),
       stops = poisoned<std::int32_t>(stream, rows);
  auto logprobs = poisoned<float>(stream, rows), entropies = poisoned<float>(stream, rows);
  sample(stream, {buffer.data(), rows, vocab, stride, 1}, settings.data(),
         {episode_buffer.data(), position_buffer.data()}, stop_buffer.data(), static_cast<int>(stop_ids.size()),
         {ids.data(), logprobs.data(), entropies.data(), stops.data()});
  return {on_host(stream, ids), on_host(stream, stops), on_host(stream, logprobs), on_host(stream, entropies)};
}

std::vector<float> repeated(const std::vector<float>& row, int rows) {
  std::vector<float> all;
  for (int r = 0; r < rows; ++r) all.insert(all.end(), row.begin(), row.end());
  return all;
}

// Returns Pearson's chi-square of the sampled ids against the distribution of the CPU sampler, in standard deviations
// from its mean. Returns 100 if an id has probability 0. Counts all ids that are expected fewer than five times as one.
double chi_square_deviation(const std::vector<std::int32_t>& ids, const std::vector<float>& row,
                            const SamplingSettings& sampling) {
  std::vector<float> logits = row, weights;
  sample_token(logits, sampling, 0.5f, weights);
  double total = 0;
  for (const float weight : weights) total += weight;
  std::vector<double> observed_counts(row.size());
  for (const int id : ids) {
    if (id < 0 || id >= static_cast<int>(row.size()) || weights[id] == 0) return 100;
    observed_counts[id] += 1;
  }
  double statistic = 0, rare_observed = 0, rare_expected = 0;
  int cells = 0;
  const auto count = [&](double observed, double expected) {
    statistic += (observed - expected) * (observed - expected) / expected;
    ++cells;
  };
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double expected = weights[i] / total * static_cast<double>(ids.size());
    if (expected >= 5) {
      count(observed_counts[i], expected);
    } else {
      rare_observed += observed_counts[i];
      rare_expected += expected;
    }
  }
  if (rare_expected > 0.5) count(rare_observed, rare_expected);
  return cells < 2 ? 0 : (statistic - (cells - 1)) / std::sqrt(2.0 * (cells - 1));
}

// The frequencies of ids match the distribution.
double frequencies(Stream& stream, int vocab, int rows, const SamplingSettings& sampling) {
  auto row = random_numbers(vocab, 81, 3);
  for (int i = 5; i < vocab; i += 6) row[i] = row[i - 5];  // ties
  return chi_square_deviation(draw(stream, repeated(row, rows), vocab, vocab, sampling).ids, row, sampling) < 4 ? 0 : 1;
}

// The log-probability and entropy of a choice are bit-identical to the loss kernel's, for any truncation.
double agrees_with_loss(Stream& stream, int vocab, int stride) {
  constexpr int rows = 6;
  const auto logits = random_numbers(static_cast<std::size_t>(rows) * stride, 82, 5);
  const SamplingSettings sampling{0.8f, 0.9f, 0, 0};
  const Drawn drawn = draw(stream, logits, vocab, stride, sampling);
  auto buffer = on_device(stream, logits);
  auto targets = on_device(stream, drawn.ids);
  auto logprobs = poisoned<float>(stream, rows), entropies = poisoned<float>(stream, rows);
  logprob_entropy(stream, {buffer.data(), rows, vocab, stride, sampling.temperature}, targets.data(), logprobs.data(),
                  entropies.data());
  return same_bits(on_host(stream, logprobs), drawn.logprobs) && same_bits(on_host(stream, entropies), drawn.entropies)
             ? 0
             : 1;
}

// top_k = 1 chooses the largest logit. Ids with probability 0 are never chosen. Invalid rows choose -1. Stop ids are
// flagged.
double corner_cases(Stream& stream) {
  constexpr int vocab = 43;
  const float infinity = std::numeric_limits<float>::infinity();
  auto logits = random_numbers(5 * vocab, 83, 2);
  std::vector<int> largest;
  for (int r = 0; r < 5; ++r)
    largest.push_back(static_cast<int>(std::max_element(logits.begin() + r * vocab, logits.begin() + (r + 1) * vocab) -
                                       logits.begin()) -
                      r * vocab);
  const Drawn greedy = draw(stream, logits, vocab, vocab, {1, 1, 1, 0}, {largest[1], largest[4]});
  bool correct = true;
  for (int r = 0; r < 5; ++r)
    correct = correct && greedy.ids[r] == largest[r] &&
              greedy.stops[r] == (largest[r] == largest[1] || largest[r] == largest[4]);

  logits[0] = std::numeric_limits<float>::quiet_NaN();
  logits[vocab + 42] = infinity;
  for (int i = 0; i < vocab; ++i) {
    logits[2 * vocab + i] = -infinity;
    if (i != 41) logits[3 * vocab + i] = -infinity;
  }
  for (const SamplingSettings& sampling : {SamplingSettings{1, 1, 0, 0}, SamplingSettings{1, 0.5f, 3, 0.1f}}) {
    const Drawn drawn = draw(stream, logits, vocab, vocab, sampling, {41, -1});
    for (int r = 0; r < 3; ++r)
      correct = correct && drawn.ids[r] == -1 && std::isnan(drawn.logprobs[r]) && std::isnan(drawn.entropies[r]) &&
                drawn.stops[r] == 0;
    correct = correct && drawn.ids[3] == 41 && drawn.stops[3] == 1 && drawn.logprobs[3] == 0 &&
              drawn.entropies[3] == 0 && drawn.ids[4] >= 0;
  }
  return correct ? 0 : 1;
}

// Returns whether each row chooses its winner, the id with nearly all probability.
bool chooses(Stream& stream, int vocab, const std::vector<std::int32_t>& winners, const SamplingSettings& sampling) {
  std::vector<float> logits(winners.size() * vocab, 0);
  for (std::size_t r = 0; r < winners.size(); ++r) logits[r * vocab + winners[r]] = 40;
  return draw(stream, logits, vocab, vocab, sampling).ids == winners;
}

// Ids of every warp of the block can be chosen.
double many_warps(Stream& stream) {
  bool correct = true;
  for (const SamplingSettings& sampling :
       {SamplingSettings{1, 1, 0, 0}, SamplingSettings{1, 0.9f, 0, 0}, SamplingSettings{1, 1, 1, 0}})
    correct = correct && chooses(stream, 4099, {40, 296, 552, 808, 4098}, sampling);
  return correct ? 0 : 1;
}

// With more than 32 groups of eight ids per thread, a lane inverts several groups.
double many_groups(Stream& stream) { return chooses(stream, 262151, {262143, 262150}, {}) ? 0 : 1; }

// A thread adds its weights in fp32, and the sum may be too large. The difference must not choose a rare id.
double rounded_sums(Stream& stream) {
  constexpr int vocab = 2040, rare = 1799;  // a block of 32 threads
  std::vector<float> logits(vocab, -INFINITY);
  for (int group = 0; group <= rare / 8; group += 32)  // the groups of thread 0
    for (int i = 0; i < 8; ++i) logits[group * 8 + i] = std::log(0x1.8p-24f);
  logits[0] = 0;  // each of the others adds three quarters of the sum's last digit, which round to one
  logits[rare] = -60;
  int position = 0;  // of a random number above 1 - 1e-6
  while (kRandom(kIteration, 0, position + 1, 0)[0] < 0xfffff000u) ++position;
  return draw(stream, logits, vocab, vocab, {}, {}, position).ids[0] == 0 ? 0 : 1;
}

// A row's choice doesn't depend on other rows, on its place in memory or on the padding of rows.
double independent_rows(Stream& stream) {
  constexpr int vocab = 331, stride = 336, rows = 3;
  const auto logits = random_numbers(rows * vocab, 84, 1);
  std::vector<float> padded(rows * stride, 50.0f);
  for (int i = 0; i < rows * vocab; ++i) padded[i / vocab * stride + i % vocab] = logits[i];
  const std::vector<float> first_row(logits.begin(), logits.begin() + vocab);
  for (const SamplingSettings& sampling : {SamplingSettings{}, {1, 0.8f, 100, 0.05f}}) {
    const Drawn all = draw(stream, logits, vocab, vocab, sampling),
                spaced = draw(stream, padded, vocab, stride, sampling),
                first = draw(stream, first_row, vocab, vocab, sampling);
    if (all.ids != spaced.ids || !same_bits(all.logprobs, spaced.logprobs) ||
        !same_bits(all.entropies, spaced.entropies) || first.ids[0] != all.ids[0])
      return 1;
  }
  return 0;
}

}  // namespace

std::vector<Check> sampler_checks() {
  const auto frequency_check = [](const char* name, int vocab, int rows, const SamplingSettings& sampling) {
    return Check{"sample, frequencies " + std::string(name), kExact, frequencies, vocab, rows, sampling};
  };
  return {frequency_check("at temperature 0.7", 27, 1000, {0.7f, 1, 0, 0}),
          frequency_check("at temperature 1.5", 41, 800, {1.5f, 1, 0, 0}),
          frequency_check("of top-k 10", 41, 800, {1, 1, 10, 0}),
          frequency_check("of top-p 0.5", 41, 800, {1, 0.5f, 0, 0}),
          frequency_check("of min-p 0.1", 41, 800, {1, 1, 0, 0.1f}),
          frequency_check("of all three truncations", 41, 800, {1.2f, 0.8f, 20, 0.05f}),
          {"sample 333, bit-identical to the loss", kExact, agrees_with_loss, 333, 336},
          {"sample 5003, bit-identical to the loss", kExact, agrees_with_loss, 5003, 5003},
          {"sample, corner cases", kExact, corner_cases},
          {"sample, many warps", kExact, many_warps},
          {"sample, many groups per thread", kExact, many_groups},
          {"sample, rounded sums", kExact, rounded_sums},
          {"sample, independent rows", kExact, independent_rows}};
}

}  // namespace starpo::cuda
