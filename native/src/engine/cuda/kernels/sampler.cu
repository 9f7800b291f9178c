#include "engine/cuda/kernels/sampler.h"

#include "engine/cuda/kernels/softmax_row.h"

namespace starpo::cuda {

// Which tokens of a row top-k, min-p and top-p leave.

// As unsigned numbers, keys have the order of the floats; both zeros have one key.
__device__ __forceinline__ unsigned order_key(float x) {
  const unsigned bits = __float_as_uint(x + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

struct Truncation {
  unsigned least_key;  // of the logit
  float least_weight;  // exp(z - maximum); the largest has 1

  __device__ __forceinline__ bool keeps(unsigned key, float weight) const {
    return key >= least_key && weight >= least_weight;
  }
};

constexpr int kDigits = 16;  // a key is found four bits at a time
constexpr int kThresholdScratch = (kMostRowThreads / 32 + 1) * kDigits;

// The block's sums of sixteen numbers a thread, in a fixed order, at scratch[0..15] until the next call.
__device__ __forceinline__ void block_digit_sums(float (&mass)[kDigits], float* scratch) {
  const int lane = lane_index(), warps = static_cast<int>(blockDim.x / 32);
  // Each step halves the sums per lane: a lane keeps one half and adds its partner's sums of that half.
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const int half = kDigits / 2 >> step;
    const bool upper = lane & half;
#pragma unroll
    for (int i = 0; i < kDigits / 2; ++i) {
      if (i >= half) break;
      const float given = upper ? mass[i] : mass[i + half], kept = upper ? mass[i + half] : mass[i];
      mass[i] = kept + __shfl_xor_sync(kAllLanes, given, half);
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

// The largest key such that the kept tokens from it up have the required mass: `required_mass` tokens, or that share of
// the kept ones' weight. A radix search from the top digit.
template <class T>
__device__ unsigned mass_threshold(Mass kind, const T* row, int vocab, bool aligned, float inverse_temperature,
                                   float maximum, const Truncation& truncation, float required_mass, float* scratch) {
  constexpr int last_shift = sizeof(T) == 2 ? 16 : 0;  // below it bf16's keys don't differ
  const int groups = (vocab + 7) / 8;
  unsigned prefix = 0;
  float above = 0, target = required_mass;
  for (int shift = 28; shift >= last_shift; shift -= 4) {
    float mass[kDigits] = {};
    for (int group = threadIdx.x; group < groups; group += blockDim.x) {
      float logits[8];
      load_eight_of(row, group, vocab, aligned, 0.0f, logits);
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
    // Where rounding keeps the last digits short of the target, the lowest is the threshold.
    unsigned found = kDigits - 1;
    float passed = above;
    bool reached = false;
    for (int digit = kDigits - 1; digit >= 0 && !reached; --digit) {
      if (scratch[digit] == 0) continue;
      above = passed;
      found = digit;
      passed += scratch[digit];
      reached = passed >= target;
    }
    prefix = prefix << 4 | found;
  }
  return prefix << last_shift;
}

namespace {

// -log(-log(u)) from 32 random bits, fine where it is large: u = 1 - v, and v keeps its bits near 0.
constexpr float kMostNoise = 22.9f;
__device__ __forceinline__ float gumbel(std::uint32_t bits) {
  const float v = fminf(fmaf(static_cast<float>(bits), 0x1p-32f, 0x1p-33f), 0x1.fffffep-1f);
  return -logf(-log1pf(-v));
}

// What the noise of a row depends on; read where some is drawn.
struct Draw {
  const SamplerSettings* settings;
  const std::int32_t* episode;
  const std::int32_t* position;

  __device__ __forceinline__ void operator()(int number, std::uint32_t (&bits)[4]) const {
    bits[0] = settings->iteration;
    bits[1] = static_cast<std::uint32_t>(*episode);
    bits[2] = static_cast<std::uint32_t>(*position) + 1;
    bits[3] = static_cast<std::uint32_t>(number);
    philox(bits, settings->random.seed, static_cast<std::uint32_t>(settings->random.stream));
  }
};

// The Gumbel-max race: of the ids seen so far, the one with the largest z + noise, of equal ones the lowest.
struct Race {
  float best;
  int id;

  __device__ __forceinline__ void enter(float value, int candidate) {
    if (value > best || (value == best && candidate < id)) {
      best = value;
      id = candidate;
    }
  }

  // z: of ids 8 group to 8 group + 7, -infinity for those that don't run. Noise is drawn only where it can change the
  // outcome.
  __device__ __forceinline__ void enter(const float (&z)[8], int group, const Draw& draw) {
#pragma unroll
    for (int four = 0; four < 8; four += 4) {
      const float high = fmaxf(fmaxf(z[four], z[four + 1]), fmaxf(z[four + 2], z[four + 3]));
      if (!(high + kMostNoise >= best) || high == -INFINITY) continue;
      std::uint32_t bits[4];
      draw(group * 2 + four / 4, bits);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (z[four + i] > -INFINITY) enter(z[four + i] + gumbel(bits[i]), group * 8 + four + i);
    }
  }
};

constexpr int kNobody = 0x7fffffff;

__device__ __forceinline__ void warp_race(Race& race) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    const float value = __shfl_xor_sync(kAllLanes, race.best, mask);
    const int id = __shfl_xor_sync(kAllLanes, race.id, mask);
    race.enter(value, id);
  }
}

// The block's winner, for thread 0.
__device__ __forceinline__ Race block_race(Race race, Race* scratch) {
  warp_race(race);
  if (lane_index() == 0) scratch[warp_index()] = race;
  __syncthreads();
  if (warp_index() == 0) {
    race = lane_index() < static_cast<int>(blockDim.x / 32) ? scratch[lane_index()] : Race{-INFINITY, kNobody};
    warp_race(race);
  }
  return race;
}

// One block a row. All tokens kept: one pass; else one for the sums, some for the thresholds, one for the race.
template <class T>
__global__ void __launch_bounds__(kMostRowThreads)
    sample_kernel(Logits<const T> logits, const SamplerSettings* settings, SamplerRows rows,
                  const std::int32_t* stop_ids, int stop_count, Choices choices) {
  STARPO_SHARED(RowSums, sums_scratch[kMostRowThreads / 32 + 1]);
  STARPO_SHARED(Race, race_scratch[kMostRowThreads / 32]);
  STARPO_SHARED(float, threshold_scratch[kThresholdScratch]);
  const T* const row = logits.data + static_cast<std::size_t>(blockIdx.x) * logits.stride;
  const bool aligned = is_aligned(row);
  const int vocab = logits.vocab, groups = (vocab + 7) / 8;
  const SamplingSettings& sampling = settings->sampling;
  const float inverse_temperature = 1.0f / sampling.temperature;
  const bool counts = sampling.top_k > 0 && sampling.top_k < vocab,
             truncates = counts || sampling.min_p > 0 || sampling.top_p < 1;
  const Draw draw{settings, rows.episodes + blockIdx.x, rows.positions + blockIdx.x};

  RowSums own = RowSums::none();
  Race race{-INFINITY, kNobody};
  for (int group = threadIdx.x; group < groups; group += blockDim.x) {
    float z[8];
    load_scaled(row, group, vocab, aligned, inverse_temperature, z);
    own.add(z);
    if (!truncates) race.enter(z, group, draw);
  }
  const RowSums sums = block_row_sums(own, sums_scratch);

  if (truncates && sums.valid()) {
    Truncation truncation{0, 0};
    const auto threshold = [&](Mass kind, float required_mass) {
      return mass_threshold(kind, row, vocab, aligned, inverse_temperature, sums.maximum, truncation, required_mass,
                            threshold_scratch);
    };
    if (counts) truncation.least_key = threshold(Mass::count, static_cast<float>(sampling.top_k));
    truncation.least_weight = sampling.min_p;
    if (sampling.top_p < 1) truncation.least_key = max(truncation.least_key, threshold(Mass::weight, sampling.top_p));
    for (int group = threadIdx.x; group < groups; group += blockDim.x) {
      float z[8];
      load_eight_of(row, group, vocab, aligned, -INFINITY, z);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const unsigned key = order_key(z[i]);
        z[i] *= inverse_temperature;
        if (!truncation.keeps(key, __expf(fmaxf(z[i] - sums.maximum, -128.0f)))) z[i] = -INFINITY;
      }
      race.enter(z, group, draw);
    }
  }
  race = block_race(race, race_scratch);
  if (threadIdx.x != 0) return;

  const bool valid = sums.valid() && race.id < vocab;
  choices.ids[blockIdx.x] = valid ? race.id : -1;
  choices.logprobs[blockIdx.x] = valid ? sums.logprob(to_float(row[race.id]) * inverse_temperature) : NAN;
  choices.entropies[blockIdx.x] = valid ? sums.entropy() : NAN;
  bool stop = false;
  for (int i = 0; i < stop_count; ++i) stop = stop || (valid && race.id == stop_ids[i]);
  choices.stops[blockIdx.x] = stop;
}

}  // namespace

template <class T>
void sample(Stream& stream, const Logits<const T>& logits, const SamplerSettings* settings, const SamplerRows& rows,
            const std::int32_t* stop_ids, int stop_count, const Choices& choices) {
  STARPO_LAUNCH(stream, logits.rows, row_threads(logits.vocab), 0, (sample_kernel<T>), logits, settings, rows, stop_ids,
                stop_count, choices);
}

template void sample(Stream&, const Logits<const float>&, const SamplerSettings*, const SamplerRows&,
                     const std::int32_t*, int, const Choices&);
template void sample(Stream&, const Logits<const Bf16>&, const SamplerSettings*, const SamplerRows&,
                     const std::int32_t*, int, const Choices&);

}  // namespace starpo::cuda
