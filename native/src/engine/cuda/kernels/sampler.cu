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

// Returns Gumbel noise -log(-log(u)) from 32 random bits. u = 1 - v, because v has a high resolution near 0, where the
// noise is large. kMaxNoise is an upper bound of the noise.
constexpr float kMaxNoise = 22.9f;
__device__ __forceinline__ float gumbel(std::uint32_t bits) {
  const float v = fminf(fmaf(static_cast<float>(bits), 0x1p-32f, 0x1p-33f), 0x1.fffffep-1f);
  return -logf(-log1pf(-v));
}

// The counter of a row's random numbers. Reads it only when noise is drawn.
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

// The running argmax of z + noise (the Gumbel-max trick). Of equal values, the lowest id wins.
struct RunningArgmax {
  float best;
  int id;

  __device__ __forceinline__ void add(float value, int candidate) {
    if (value > best || (value == best && candidate < id)) {
      best = value;
      id = candidate;
    }
  }

  // Adds noise to z of the ids [8 group, 8 group + 8), which is -infinity for truncated ids. Draws noise only if it can
  // change the result.
  __device__ __forceinline__ void add(const float (&z)[8], int group, const Draw& draw) {
#pragma unroll
    for (int first = 0; first < 8; first += 4) {
      const float high = fmaxf(fmaxf(z[first], z[first + 1]), fmaxf(z[first + 2], z[first + 3]));
      if (!(high + kMaxNoise >= best) || high == -INFINITY) continue;
      std::uint32_t bits[4];
      draw(group * 2 + first / 4, bits);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (z[first + i] > -INFINITY) add(z[first + i] + gumbel(bits[i]), group * 8 + first + i);
    }
  }
};

constexpr int kNoId = 0x7fffffff;

__device__ __forceinline__ void warp_argmax(RunningArgmax& argmax) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    const float value = __shfl_xor_sync(kAllLanes, argmax.best, mask);
    const int id = __shfl_xor_sync(kAllLanes, argmax.id, mask);
    argmax.add(value, id);
  }
}

// Returns the argmax over the block to thread 0.
__device__ __forceinline__ RunningArgmax block_argmax(RunningArgmax argmax, RunningArgmax* scratch) {
  warp_argmax(argmax);
  if (lane_index() == 0) scratch[warp_index()] = argmax;
  __syncthreads();
  if (warp_index() == 0) {
    argmax = lane_index() < static_cast<int>(blockDim.x / 32) ? scratch[lane_index()] : RunningArgmax{-INFINITY, kNoId};
    warp_argmax(argmax);
  }
  return argmax;
}

// One block per row. Without truncation, one pass over the row computes the sums and the argmax. With truncation,
// more passes find the thresholds, and a last one the argmax.
__global__ void __launch_bounds__(kMaxRowThreads)
    sample_kernel(Logits logits, const SamplerSettings* settings, SamplerRows rows, const std::int32_t* stop_ids,
                  int stop_count, Choices choices) {
  STARPO_SHARED(RowSums, sums_scratch[kMaxRowThreads / 32 + 1]);
  STARPO_SHARED(RunningArgmax, argmax_scratch[kMaxRowThreads / 32]);
  STARPO_SHARED(float, threshold_scratch[kThresholdScratch]);
  const float* const row = logits.data + static_cast<std::size_t>(blockIdx.x) * logits.stride;
  const bool aligned = is_aligned(row);
  const int vocab = logits.vocab, groups = (vocab + 7) / 8;
  const SamplingSettings& sampling = settings->sampling;
  const float inverse_temperature = 1.0f / sampling.temperature;
  const bool counts = sampling.top_k > 0 && sampling.top_k < vocab,
             truncates = counts || sampling.min_p > 0 || sampling.top_p < 1;
  const Draw draw{settings, rows.episodes + blockIdx.x, rows.positions + blockIdx.x};

  RowSums own = RowSums::none();
  RunningArgmax argmax{-INFINITY, kNoId};
  for (int group = threadIdx.x; group < groups; group += blockDim.x) {
    float z[8];
    load_scaled(row, group, vocab, aligned, inverse_temperature, z);
    own.add(z);
    if (!truncates) argmax.add(z, group, draw);
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
      load_group(row, group, vocab, aligned, -INFINITY, z);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const unsigned key = order_key(z[i]);
        z[i] *= inverse_temperature;
        if (!truncation.keeps(key, __expf(fmaxf(z[i] - sums.maximum, -128.0f)))) z[i] = -INFINITY;
      }
      argmax.add(z, group, draw);
    }
  }
  argmax = block_argmax(argmax, argmax_scratch);
  if (threadIdx.x != 0) return;

  const bool valid = sums.valid() && argmax.id < vocab;
  choices.ids[blockIdx.x] = valid ? argmax.id : -1;
  choices.logprobs[blockIdx.x] = valid ? sums.logprob(row[argmax.id] * inverse_temperature) : NAN;
  choices.entropies[blockIdx.x] = valid ? sums.entropy() : NAN;
  bool stop = false;
  for (int i = 0; i < stop_count; ++i) stop = stop || (valid && argmax.id == stop_ids[i]);
  choices.stops[blockIdx.x] = stop;
}

}  // namespace

void sample(Stream& stream, const Logits& logits, const SamplerSettings* settings, const SamplerRows& rows,
            const std::int32_t* stop_ids, int stop_count, const Choices& choices) {
  STARPO_LAUNCH(stream, logits.rows, row_threads(logits.vocab), 0, (sample_kernel), logits, settings, rows, stop_ids,
                stop_count, choices);
}

}  // namespace starpo::cuda
