#include "engine/cuda/engine/device_weights.h"

#include <cmath>
#include <stdexcept>
#include <type_traits>

namespace starpo::cuda {

template <class T>
DeviceWeights<T>::DeviceWeights(Stream& stream, const ModelConfig& config, ModelHead head, NetworkUse use)
    : stream_(stream), layout_(config, head), offsets_(model_offsets(layout_)), width_(config), masters_(layout_.size()) {
  if constexpr (!std::is_same_v<T, float>) matrices_ = DeviceBuffer<T>(layout_.size());
  if (use == NetworkUse::read) return;
  for (auto* each : {&gradients_, &first_moment_, &second_moment_}) {
    *each = DeviceBuffer<float>(layout_.size());
    each->fill_zero(stream);
  }
  const auto flags = decay_by_eights(decayed_weights(layout_));
  decayed_ = DeviceBuffer<std::uint8_t>(stream, flags);
  norm_partials_ = DeviceBuffer<double>(kNormPartials);
  report_ = DeviceBuffer<StepReport>(1);
}

template <class T>
std::size_t DeviceWeights<T>::bytes(const ParameterLayout& layout, NetworkUse use) {
  const std::size_t copy = std::is_same_v<T, float> ? 0 : sizeof(T), learning = 3 * sizeof(float);
  return layout.size() * (sizeof(float) + copy + (use == NetworkUse::trained ? learning : 0)) + (use == NetworkUse::trained ? layout.size() / 8 : 0);
}

template <class T>
const T* DeviceWeights<T>::matrix(std::size_t offset) const {
  if constexpr (std::is_same_v<T, float>) return masters_.data() + offset;
  else return matrices_.data() + offset;
}

template <class T>
auto& DeviceWeights<T>::buffer(auto& self, StateVector which) {
  auto& chosen = which == StateVector::weights ? self.masters_ : which == StateVector::first_moment ? self.first_moment_ : self.second_moment_;
  if (chosen.size() != self.layout_.size()) throw std::logic_error("this network doesn't learn");
  return chosen;
}

template <class T>
void DeviceWeights<T>::read(StateVector which, std::span<float> to) const {
  if (to.size() != size()) throw std::invalid_argument("a state vector has as many numbers as there are weights");
  buffer(*this, which).download(stream_, to);
}

template <class T>
void DeviceWeights<T>::write(StateVector which, std::span<const float> from) {
  if (from.size() != size()) throw std::invalid_argument("a state vector has as many numbers as there are weights");
  buffer(*this, which).upload(stream_, from);
  if constexpr (!std::is_same_v<T, float>)
    if (which == StateVector::weights) round_weights(stream_, size(), masters_.data(), matrices_.data());
}

template <class T>
void DeviceWeights<T>::clear_gradients() {
  gradients_.fill_zero(stream_);
}

template <class T>
OptimizerStep DeviceWeights<T>::step(const AdamWSettings& settings) {
  Bf16* rounded = nullptr;
  if constexpr (std::is_same_v<T, Bf16>) rounded = matrices_.data();
  gradient_norm(stream_, size(), gradients_.data(), settings.gradient_clip, norm_partials_.data(), report_.data());
  adamw(stream_, size(), {masters_.data(), first_moment_.data(), second_moment_.data(), gradients_.data(), rounded, decayed_.data()}, settings, steps_ + 1, report_.data());
  StepReport report{};
  report_.download(stream_, {&report, 1});
  if (std::isfinite(report.norm)) ++steps_;
  return {report.norm, report.non_finite_weights == 0};
}

template class DeviceWeights<Bf16>;
template class DeviceWeights<float>;

}  // namespace starpo::cuda
