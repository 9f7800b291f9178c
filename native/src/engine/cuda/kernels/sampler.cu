#include "engine/cuda/kernels/sampler.h"

#include "engine/cuda/kernels/softmax_row.h"
#include "engine/cuda/kernels/truncation.h"

namespace starpo::cuda {
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

  // z: of ids 8 group to 8 group + 7, -infinity for those that don't run. Noise is drawn only where it can change the outcome.
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
    const float value = __shfl_xor_sync(every_lane, race.best, mask);
    const int id = __shfl_xor_sync(every_lane, race.id, mask);
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
__global__ void __launch_bounds__(kMostRowThreads) sample_kernel(Logits<const T> logits, const SamplerSettings* settings, SamplerRows rows, const std::int32_t* stop_ids,
                                                                 int stop_count, Choices choices) {
  STARPO_SHARED(RowSums, sums_scratch[kMostRowThreads / 32 + 1]);
  STARPO_SHARED(Race, race_scratch[kMostRowThreads / 32]);
  STARPO_SHARED(float, threshold_scratch[kThresholdScratch]);
  const T* const row = logits.data + static_cast<std::size_t>(blockIdx.x) * logits.stride;
  const bool aligned = is_aligned(row);
  const int vocab = logits.vocab, groups = (vocab + 7) / 8;
  const SamplingSettings& sampling = settings->sampling;
  const float inverse_temperature = 1.0f / sampling.temperature;
  const bool counts = sampling.top_k > 0 && sampling.top_k < vocab, truncates = counts || sampling.min_p > 0 || sampling.top_p < 1;
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
    const auto threshold = [&](Mass kind, float wanted) {
      return mass_threshold(kind, row, vocab, aligned, inverse_temperature, sums.maximum, truncation, wanted, threshold_scratch);
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
void sample(Stream& stream, const Logits<const T>& logits, const SamplerSettings* settings, const SamplerRows& rows, const std::int32_t* stop_ids, int stop_count,
            const Choices& choices) {
  STARPO_LAUNCH(stream, logits.rows, row_threads(logits.vocab), 0, (sample_kernel<T>), logits, settings, rows, stop_ids, stop_count, choices);
}

template void sample(Stream&, const Logits<const float>&, const SamplerSettings*, const SamplerRows&, const std::int32_t*, int, const Choices&);
template void sample(Stream&, const Logits<const Bf16>&, const SamplerSettings*, const SamplerRows&, const std::int32_t*, int, const Choices&);

}  // namespace starpo::cuda
