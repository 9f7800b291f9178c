#include "engine/cpu/cpu_trainable.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/cpu/kernels/kernels.h"
#include "model/parameters.h"

namespace starpo {
namespace {

constexpr std::size_t kNormBlock = 1024;
constexpr std::size_t kTaskBlock = 32768;

int tasks(std::size_t size) { return static_cast<int>((size + kTaskBlock - 1) / kTaskBlock); }

auto& moment(auto& optimizer, StateVector which) {
  return which == StateVector::first_moment ? optimizer.first_moment : optimizer.second_moment;
}

}  // namespace

double sum_of_squares(std::span<const float> values, ThreadPool& threads) {
  const std::size_t size = values.size();
  std::vector<float> squares((size + kNormBlock - 1) / kNormBlock);
  threads.parallel_for(tasks(size), [&](int task) {
    const std::size_t end = std::min(size, (task + 1) * kTaskBlock);
    for (std::size_t i = task * kTaskBlock; i < end; i += kNormBlock)
      squares[i / kNormBlock] = kernels().sum_of_squares(std::min(kNormBlock, end - i), values.data() + i);
  });
  double sum = 0;
  for (const float square : squares) sum += square;
  return sum;
}

AdamW::AdamW(std::size_t size) : first_moment(size), second_moment(size) {}

void AdamW::step(std::span<float> weights, std::span<const float> gradients, std::span<const std::uint8_t> decayed,
                 const AdamWSettings& settings, float gradient_scale, ThreadPool& threads) {
  const std::size_t size = first_moment.size();
  if (weights.size() != size || gradients.size() != size || decayed.size() != size || second_moment.size() != size)
    throw std::invalid_argument("AdamW: buffers differ in size");

  ++steps;
  AdamWStep step{};
  step.gradient_scale = gradient_scale;
  step.beta1 = settings.beta1;
  step.beta2 = settings.beta2;
  step.learning_rate = settings.learning_rate;
  step.epsilon = settings.epsilon;
  step.decay = settings.learning_rate * settings.weight_decay;
  step.first_correction = bias_correction(settings.beta1, steps);
  step.second_correction = bias_correction(settings.beta2, steps);
  threads.parallel_for(tasks(size), [&](int task) {
    const std::size_t begin = task * kTaskBlock;
    kernels().adamw(std::min(size, begin + kTaskBlock) - begin, step, gradients.data() + begin, decayed.data() + begin,
                    weights.data() + begin, first_moment.data() + begin, second_moment.data() + begin);
  });
}

CpuTrainable::CpuTrainable(std::vector<TensorSlot> tensors, std::span<float> weights, ThreadPool& threads,
                           std::function<void(std::size_t, std::size_t)> changed)
    : tensors_(std::move(tensors)),
      weights_(weights),
      decayed_(decayed_weights(tensors_)),
      threads_(threads),
      changed_(std::move(changed)),
      optimizer_(0) {
  if (size() != weights_.size()) throw std::invalid_argument("the tensors must cover the weights");
}

void CpuTrainable::check_range(std::size_t first, std::size_t count) const {
  if (first > size() || count > size() - first) throw std::out_of_range("the range exceeds the state vector");
}

void CpuTrainable::read(StateVector which, std::size_t first, std::span<float> to) const {
  check_range(first, to.size());
  if (which == StateVector::weights)
    std::copy_n(weights_.begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.begin());
  else if (const std::vector<float>& from = moment(optimizer_, which); from.empty())
    std::fill(to.begin(), to.end(), 0.0f);
  else
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.begin());
}

void CpuTrainable::write(StateVector which, std::size_t first, std::span<const float> from) {
  check_range(first, from.size());
  if (which == StateVector::weights) {
    std::copy(from.begin(), from.end(), weights_.begin() + static_cast<std::ptrdiff_t>(first));
    changed_(first, from.size());
  } else {
    if (optimizer_.first_moment.empty()) optimizer_ = AdamW(size());
    std::copy(from.begin(), from.end(), moment(optimizer_, which).begin() + static_cast<std::ptrdiff_t>(first));
  }
}

void CpuTrainable::clear_gradients() { gradients_.assign(size(), 0.0f); }

double CpuTrainable::squared_norm() {
  if (gradients_.empty()) throw std::logic_error("a step needs gradients");
  return sum_of_squares(gradients_, threads_);
}

bool CpuTrainable::apply(const AdamWSettings& settings, float gradient_scale) {
  if (gradients_.empty()) throw std::logic_error("a step needs gradients");
  if (optimizer_.first_moment.empty()) optimizer_ = AdamW(size());
  optimizer_.steps = steps_;
  optimizer_.step(weights_, gradients_, decayed_, settings, gradient_scale, threads_);
  steps_ = optimizer_.steps;
  changed_(0, size());
  return std::all_of(weights_.begin(), weights_.end(), [](float weight) { return std::isfinite(weight); });
}

std::int64_t CpuTrainable::bytes(std::size_t size) {
  return static_cast<std::int64_t>(size * (3 * sizeof(float) + sizeof(std::uint8_t)));
}

}  // namespace starpo
