#include "engine/cuda/kernels/loss.h"

#include <type_traits>

#include "engine/cuda/kernels/softmax_row.h"

namespace starpo::cuda {
namespace {

// Rows without a gradient.
struct TargetRows {
  const std::int32_t* targets;
};

struct LossSettings {
  double clip_low, clip_high, dual_clip, entropy_coefficient, kl_coefficient;
  KlEstimator kl_estimator;
};

struct RowGradient {
  float from_logprob;  // d(loss)/d(log p(target))
  float from_entropy;  // d(loss)/d(entropy)
};

__device__ RowGradient row_gradient(const LossGradientRows& rows, int row, float, const LossSettings&) {
  return {rows.from_logprob[row], rows.from_entropy[row]};
}

__device__ RowGradient row_gradient(const PolicyLossRows& rows, int row, float logprob, const LossSettings& settings) {
  const double weight = rows.weights[row];
  const double log_ratio = static_cast<double>(logprob) - static_cast<double>(rows.rollout_logprobs[row]);
  const TokenLoss token =
      clipped_objective(log_ratio, rows.advantages[row], settings.clip_low, settings.clip_high, settings.dual_clip);
  RowGradient gradient{static_cast<float>(weight * token.gradient),
                       static_cast<float>(-weight * settings.entropy_coefficient)};
  if (rows.reference_logprobs != nullptr) {
    const KlEstimate kl = kl_estimate(settings.kl_estimator, logprob, rows.reference_logprobs[row]);
    gradient.from_logprob += static_cast<float>(settings.kl_coefficient * weight * kl.gradient);
  }
  return gradient;
}

// One block per row. A first pass computes log p(target) and the entropy H, a second the gradient. With z = logits /
// temperature and y the target: d log p(y) / dz_j = [j = y] - p_j and dH / dz_j = -p_j (log p_j + H).
template <class T, class Rows>
__global__ void __launch_bounds__(kMaxRowThreads, 2)
    loss_kernel(Logits logits, Rows rows, LossSettings settings, float* logprobs, float* entropies, T* logit_gradient) {
  constexpr bool has_gradient = !std::is_same_v<Rows, TargetRows>;
  STARPO_SHARED(RowSums, scratch[kMaxRowThreads / 32 + 1]);
  STARPO_SHARED(RowGradient, shared_gradient[1]);
  const float* const row = logits.data + static_cast<std::size_t>(blockIdx.x) * logits.stride;
  // Implies that every row is aligned in both types.
  const bool aligned = logits.stride % 8 == 0 && is_aligned(logits.data) && is_aligned(logit_gradient);
  const int groups = (logits.vocab + 7) / 8, target = rows.targets[blockIdx.x];
  const float inverse_temperature = 1.0f / logits.temperature;

  RowSums own = RowSums::none();
#pragma unroll 2
  for (int group = threadIdx.x; group < groups; group += blockDim.x) {
    float z[8];
    load_scaled(row, group, logits.vocab, aligned, inverse_temperature, z);
    own.add(z);
  }
  const RowSums sums = block_row_sums(own, scratch);
  if (threadIdx.x == 0) {
    const bool valid = sums.valid();
    const float logprob = valid ? sums.logprob(row[target] * inverse_temperature) : NAN;
    logprobs[blockIdx.x] = logprob;
    entropies[blockIdx.x] = valid ? sums.entropy() : NAN;
    if constexpr (has_gradient) shared_gradient[0] = row_gradient(rows, blockIdx.x, logprob, settings);
  }
  if constexpr (has_gradient) {
    __syncthreads();
    const RowGradient gradient = shared_gradient[0];
    const float log_sum = sums.log_sum(), entropy = sums.entropy();
    T* const gradient_row = logit_gradient + static_cast<std::size_t>(blockIdx.x) * logits.stride;
#pragma unroll 1  // otherwise registers limit the occupancy
    for (int group = threadIdx.x; group < groups; group += blockDim.x) {
      float z[8];
      load_scaled(row, group, logits.vocab, aligned, inverse_temperature, z);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float logprob = fmaxf((z[i] - sums.maximum) - log_sum, -128.0f);
        const float slope = fmaf(gradient.from_entropy, logprob + entropy, gradient.from_logprob);
        const float chosen = group * 8 + i == target ? gradient.from_logprob : 0.0f;
        z[i] = (chosen - __expf(logprob) * slope) * inverse_temperature;
      }
      store_group(gradient_row, group, logits.stride, aligned, z);  // padding gets 0
    }
  }
}

template <class T, class Rows>
void run(Stream& stream, const Logits& logits, const Rows& rows, const LossSettings& settings, float* logprobs,
         float* entropies, T* gradient) {
  STARPO_LAUNCH(stream, logits.rows, row_threads(logits.vocab), 0, (loss_kernel<T, Rows>), logits, rows, settings,
                logprobs, entropies, gradient);
}

}  // namespace

void logprob_entropy(Stream& stream, const Logits& logits, const std::int32_t* targets, float* logprobs,
                     float* entropies) {
  run<float>(stream, logits, TargetRows{targets}, {}, logprobs, entropies, nullptr);
}

template <class T>
void policy_loss(Stream& stream, const Logits& logits, const PolicyLossRows& rows, const PolicyLossConfig& config,
                 const KlConfig& kl, float* logprobs, float* entropies, T* gradient) {
  const LossSettings settings{config.clip_low, config.clip_high, config.dual_clip, config.entropy_coefficient,
                              kl.coefficient,  kl.estimator};
  run<T>(stream, logits, rows, settings, logprobs, entropies, gradient);
}

template <class T>
void given_loss(Stream& stream, const Logits& logits, const LossGradientRows& rows, float* logprobs, float* entropies,
                T* gradient) {
  run<T>(stream, logits, rows, {}, logprobs, entropies, gradient);
}

template void policy_loss(Stream&, const Logits&, const PolicyLossRows&, const PolicyLossConfig&, const KlConfig&,
                          float*, float*, float*);
template void policy_loss(Stream&, const Logits&, const PolicyLossRows&, const PolicyLossConfig&, const KlConfig&,
                          float*, float*, Bf16*);
template void given_loss(Stream&, const Logits&, const LossGradientRows&, float*, float*, float*);
template void given_loss(Stream&, const Logits&, const LossGradientRows&, float*, float*, Bf16*);

}  // namespace starpo::cuda
