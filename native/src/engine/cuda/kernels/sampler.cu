#include "engine/cuda/kernels/sampler.h"

#include "engine/cuda/kernels/softmax_row.h"

namespace starpo::cuda {

// Maps a float to a key: unsigned keys have the order of the floats, and both zeros have the same key.
__device__ __forceinline__ unsigned order_key(float x) {
  const unsigned bits = __float_as_uint(x + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// The tokens of a row that top-k, min-p and top-p keep.
struct Truncation {
  unsigned least_key;  // of the logit
  float least_weight;  // of exp(z - maximum), which is at most 1

  __device__ __forceinline__ bool keeps(unsigned key, float weight) const {
    return key >= least_key && weight >= least_weight;
  }
};

constexpr int kDigits = 16;  // the radix of the search: four bits of the key at a time
constexpr int kThresholdScratch = (kMaxRowThreads / 32 + 1) * kDigits;

// Sums sixteen numbers per thread over the block, in a fixed order. The sums are in scratch[0..15] until the next call.
__device__ __forceinline__ void block_digit_sums(float (&mass)[kDigits], float* scratch) {
  const int lane = lane_index(), warps = static_cast<int>(blockDim.x / 32);
  // Each step halves the number of sums per lane: a lane keeps one half and adds its partner's sums of that half.
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const int half = kDigits / 2 >> step;
    const bool upper = lane & half;
#pragma unroll
    for (int i = 0; i < kDigits / 2; ++i) {
      if (i >= half) break;
      const float sent = upper ? mass[i] : mass[i + half], kept = upper ? mass[i + half] : mass[i];
      mass[i] = kept + __shfl_xor_sync(kAllLanes, sent, half);
    }
  }
  mass[0] += __shfl_xor_sync(kAllLanes, mass[0], 16);
  __syncthreads();
  if (lane < kDigits) scratch[(1 + warp_index()) * kDigits + lane] = mass[0];
  __syncthreads();
  if (threadIdx.x < kDigits) {
    float sum = 0;
    for (int warp = 0; warp < warps; ++warp) sum += scratch[(1 + warp) * kDigits + threadIdx.x];
    scratch[threadIdx.x] = sum;
  }
  __syncthreads();
}

enum class Mass { count, weight };

// Returns the largest key for which the kept tokens with at least this key have the required mass:
// `required_mass` tokens, or that share of the weight of all kept tokens. A radix search from the most significant
// digit.
__device__ unsigned mass_threshold(Mass kind, const float* row, int vocab, bool aligned, float inverse_temperature,
                                   float maximum, const Truncation& truncation, float required_mass, float* scratch) {
  const int groups = (vocab + 7) / 8;
  unsigned prefix = 0;
  float above = 0, target = required_mass;
  for (int shift = 28; shift >= 0; shift -= 4) {
    float mass[kDigits] = {};
    for (int group = threadIdx.x; group < groups; group += blockDim.x) {
      float logits[8];
      load_group(row, group, vocab, aligned, 0.0f, logits);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const unsigned key = order_key(logits[i]);
        const float weight = __expf(fmaxf(logits[i] * inverse_temperature - maximum, -128.0f));
        const bool counted =
            group * 8 + i < vocab && truncation.keeps(key, weight) && (shift == 28 || key >> (shift + 4) == prefix);
        const float value = counted ? (kind == Mass::count ? 1.0f : weight) : 0.0f;
        const unsigned digit = key >> shift & 15;
#pragma unroll
        for (unsigned d = 0; d < kDigits; ++d) mass[d] += d == digit ? value : 0.0f;
      }
    }
    block_digit_sums(mass, scratch);

    if (kind == Mass::weight && shift == 28) {
      float total = 0;
      for (int digit = kDigits - 1; digit >= 0; --digit) total += scratch[digit];
      target = required_mass * total;
    }
    // If the sum stays below the target because of rounding, the lowest digit is the threshold.
    unsigned threshold_digit = kDigits - 1;
    float cumulative = above;
    bool reached = false;
    for (int digit = kDigits - 1; digit >= 0 && !reached; --digit) {
      if (scratch[digit] == 0) continue;
      above = cumulative;
      threshold_digit = digit;
      cumulative += scratch[digit];
      reached = cumulative >= target;
    }
    prefix = prefix << 4 | threshold_digit;
  }
  return prefix;
}

namespace {

// Returns the uniform number in [0, 1) of a row's draw, with 53 random bits.
__device__ double uniform_draw(const SamplerSettings& settings, std::int32_t episode, std::int32_t position) {
  std::uint32_t bits[4] = {settings.iteration, static_cast<std::uint32_t>(episode),
                           static_cast<std::uint32_t>(position) + 1, 0};
  philox(bits, settings.random.seed, static_cast<std::uint32_t>(settings.random.stream));
  return static_cast<double>((static_cast<std::uint64_t>(bits[0]) << 32 | bits[1]) >> 11) * 0x1p-53;
}

// Returns the first of `count` masses at which their running sum exceeds `target`, and subtracts the masses before it
// from `target`. If rounding keeps the sum below the target, returns the largest mass, because the last positive one
// may be too small to be drawn. If none is positive, returns 0.
template <class MassAt>
__device__ __forceinline__ int invert(int count, double& target, MassAt mass_at) {
  double sum = 0, before = 0, largest = 0;
  int chosen = 0;
  bool reached = false;
  for (int i = 0; i < count; ++i) {
    const auto mass = static_cast<double>(mass_at(i));  // a shuffle needs all lanes, also after the sum is reached
    if (reached || !(mass > 0)) continue;
    reached = sum + mass > target;
    if (reached || mass > largest) {
      chosen = i;
      before = sum;
      largest = mass;
    }
    sum += mass;
  }
  target -= before;
  return chosen;
}

// The warp that the draw selects, and the rest of the target in it.
struct ChosenWarp {
  int warp;
  double target;
};

// One block per row. A pass over the row computes the sums and each thread's mass: the sum of exp(z - maximum) over its
// ids. With truncation, more passes find the thresholds and sum the kept ids. Then the cumulative distribution is
// inverted with one random number: over the warps, the threads of a warp, and the ids of a thread.
__global__ void __launch_bounds__(kMaxRowThreads)
    sample_kernel(Logits logits, const SamplerSettings* settings, SamplerRows rows, const std::int32_t* stop_ids,
                  int stop_count, Choices choices) {
  STARPO_SHARED(RowSums, sums_scratch[kMaxRowThreads / 32 + 1]);
  STARPO_SHARED(float, warp_masses[kMaxRowThreads / 32]);
  STARPO_SHARED(ChosenWarp, chosen_warp[1]);
  STARPO_SHARED(float, threshold_scratch[kThresholdScratch]);
  const float* const row = logits.data + static_cast<std::size_t>(blockIdx.x) * logits.stride;
  const bool aligned = is_aligned(row);
  const int vocab = logits.vocab, groups = (vocab + 7) / 8, threads = static_cast<int>(blockDim.x);
  const SamplingSettings& sampling = settings->sampling;
  const float inverse_temperature = 1.0f / sampling.temperature;
  const bool counts = sampling.top_k > 0 && sampling.top_k < vocab,
             truncates = counts || sampling.min_p > 0 || sampling.top_p < 1;

  RowSums own = RowSums::none();
  for (int group = threadIdx.x; group < groups; group += threads) {
    float z[8];
    load_scaled(row, group, vocab, aligned, inverse_temperature, z);
    own.add(z);
  }
  const RowSums sums = block_row_sums(own, sums_scratch);

  Truncation truncation{0, 0};
  if (truncates && sums.valid()) {
    const auto threshold = [&](Mass kind, float required_mass) {
      return mass_threshold(kind, row, vocab, aligned, inverse_temperature, sums.maximum, truncation, required_mass,
                            threshold_scratch);
    };
    if (counts) truncation.least_key = threshold(Mass::count, static_cast<float>(sampling.top_k));
    truncation.least_weight = sampling.min_p;
    if (sampling.top_p < 1) truncation.least_key = max(truncation.least_key, threshold(Mass::weight, sampling.top_p));
  }
  const auto mass_of_logit = [&](float logit) {
    const float weight = __expf(fmaxf(logit * inverse_temperature - sums.maximum, -128.0f));
    return truncation.keeps(order_key(logit), weight) ? weight : 0.0f;
  };
  // Sums the groups first, first + step, ...
  const auto mass_of_groups = [&](int first, int step) {
    float mass = 0;
    for (int group = first; group < groups; group += step) {
      float z[8];
      load_group(row, group, vocab, aligned, -INFINITY, z);
#pragma unroll
      for (const float logit : z) mass += mass_of_logit(logit);
    }
    return mass;
  };
  const float mass = truncates ? mass_of_groups(threadIdx.x, threads) : own.sum * __expf(own.maximum - sums.maximum);

  const float warp_mass = warp_sum(mass);
  if (lane_index() == 0) warp_masses[warp_index()] = warp_mass;
  __syncthreads();
  if (threadIdx.x == 0) {
    double target = 0;
    for (int warp = 0; warp < threads / 32; ++warp) target += static_cast<double>(warp_masses[warp]);
    target *= uniform_draw(*settings, rows.episodes[blockIdx.x], rows.positions[blockIdx.x]);
    const int warp = invert(threads / 32, target, [&](int i) { return warp_masses[i]; });
    chosen_warp[0] = {warp, target};
  }
  __syncthreads();
  if (warp_index() != chosen_warp[0].warp) return;

  double target = chosen_warp[0].target;
  const auto lane_of = [&](float of_lane) {
    return invert(32, target, [&](int lane) { return __shfl_sync(kAllLanes, of_lane, lane); });
  };
  const int thread = warp_index() * 32 + lane_of(mass);
  const int first = thread + lane_index() * threads, step = 32 * threads;  // the lanes divide the thread's groups
  const int lane = lane_of(mass_of_groups(first, step));
  if (lane_index() != lane) return;
  const auto id_at = [&](int i) { return (first + i / 8 * step) * 8 + i % 8; };
  const int own_ids = first < groups ? ((groups - first - 1) / step + 1) * 8 : 0;
  const int id =
      id_at(invert(own_ids, target, [&](int i) { return id_at(i) < vocab ? mass_of_logit(row[id_at(i)]) : 0.0f; }));

  const bool valid = sums.valid() && id < vocab;
  choices.ids[blockIdx.x] = valid ? id : -1;
  choices.logprobs[blockIdx.x] = valid ? sums.logprob(row[id] * inverse_temperature) : NAN;
  choices.entropies[blockIdx.x] = valid ? sums.entropy() : NAN;
  bool stop = false;
  for (int i = 0; i < stop_count; ++i) stop = stop || (valid && id == stop_ids[i]);
  choices.stops[blockIdx.x] = stop;
}

}  // namespace

void sample(Stream& stream, const Logits& logits, const SamplerSettings* settings, const SamplerRows& rows,
            const std::int32_t* stop_ids, int stop_count, const Choices& choices) {
  STARPO_LAUNCH(stream, logits.rows, row_threads(logits.vocab), 0, (sample_kernel), logits, settings, rows, stop_ids,
                stop_count, choices);
}

}  // namespace starpo::cuda
