#include "engine/cpu/cpu_trainable.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace starpo {
namespace {

auto& moment(auto& optimizer, StateVector which) { return which == StateVector::first_moment ? optimizer.first_moment : optimizer.second_moment; }

}  // namespace

CpuTrainable::CpuTrainable(std::span<float> weights, std::vector<std::uint8_t> decayed, ThreadPool& threads, std::function<void()> changed)
    : weights_(weights), decayed_(std::move(decayed)), threads_(threads), changed_(std::move(changed)), optimizer_(0) {}

void CpuTrainable::read(StateVector which, std::span<float> to) const {
  if (to.size() != size()) throw std::invalid_argument("a state vector has as many numbers as there are weights");
  if (which == StateVector::weights) std::copy(weights_.begin(), weights_.end(), to.begin());
  else if (const std::vector<float>& from = moment(optimizer_, which); from.empty()) std::fill(to.begin(), to.end(), 0.0f);
  else std::copy(from.begin(), from.end(), to.begin());
}

void CpuTrainable::write(StateVector which, std::span<const float> from) {
  if (from.size() != size()) throw std::invalid_argument("a state vector has as many numbers as there are weights");
  if (which == StateVector::weights) {
    std::copy(from.begin(), from.end(), weights_.begin());
    changed_();
  } else {
    if (optimizer_.first_moment.empty()) optimizer_ = AdamW(size());
    std::copy(from.begin(), from.end(), moment(optimizer_, which).begin());
  }
}

void CpuTrainable::clear_gradients() { gradients_.assign(size(), 0.0f); }

OptimizerStep CpuTrainable::step(const AdamWSettings& settings) {
  if (gradients_.empty()) throw std::logic_error("a step needs gradients");
  if (optimizer_.first_moment.empty()) optimizer_ = AdamW(size());
  optimizer_.steps = steps_;
  const float norm = optimizer_.step(weights_, gradients_, decayed_, settings, threads_);
  steps_ = optimizer_.steps;
  const bool finite = std::all_of(weights_.begin(), weights_.end(), [](float weight) { return std::isfinite(weight); });
  if (std::isfinite(norm)) changed_();
  return {norm, finite};
}

}  // namespace starpo
