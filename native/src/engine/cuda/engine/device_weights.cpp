#include "engine/cuda/engine/device_weights.h"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

namespace starpo::cuda {

// Returns all weights if they are trained or T is float, otherwise only norms and biases, which matrix products don't
// read.
template <class T>
std::vector<typename DeviceWeights<T>::MasterRange> DeviceWeights<T>::master_ranges(const ParameterLayout& layout,
                                                                                    NetworkUse use) {
  if (use == NetworkUse::trained || std::is_same_v<T, float>) return {{0, layout.size(), 0}};
  std::vector<MasterRange> ranges;
  std::size_t position = 0;
  // Adjacent tensors stay adjacent, because kernels read a layer's biases as one array, and a value head too.
  for (const TensorSlot& tensor : layout.tensors())
    if (tensor.shape.size() == 1 || tensor.name == "score.weight") {
      ranges.push_back({tensor.offset, tensor.size, position});
      position += tensor.size;
    }
  return ranges;
}

template <class T>
DeviceWeights<T>::DeviceWeights(Stream& stream, const ModelConfig& config, ModelHead head, NetworkUse use)
    : stream_(stream),
      layout_(config, head),
      offsets_(model_offsets(layout_)),
      width_(config),
      master_ranges_(master_ranges(layout_, use)),
      masters_(stream, master_ranges_.back().position + master_ranges_.back().size) {
  if constexpr (!std::is_same_v<T, float>) matrices_ = DeviceBuffer<T>(stream, layout_.size());
  if (use == NetworkUse::read) return;
  for (auto* each : {&gradients_, &first_moment_, &second_moment_}) {
    *each = DeviceBuffer<float>(stream, layout_.size());
    each->fill_zero(stream);
  }
  const auto flags = group_decay_flags(decayed_weights(layout_.tensors()));
  decayed_ = DeviceBuffer<std::uint8_t>(stream, flags);
  norm_partials_ = DeviceBuffer<double>(stream, kNormPartials);
  report_ = DeviceBuffer<StepReport>(stream, 1);
}

template <class T>
std::size_t DeviceWeights<T>::bytes(const ParameterLayout& layout, NetworkUse use) {
  const std::size_t copy = std::is_same_v<T, float> ? 0 : sizeof(T), training_state = 3 * sizeof(float);
  const MasterRange last = master_ranges(layout, use).back();
  return (last.position + last.size) * sizeof(float) +
         layout.size() * (copy + (use == NetworkUse::trained ? training_state : 0)) +
         (use == NetworkUse::trained ? layout.size() / 8 : 0);
}

template <class T>
const float* DeviceWeights<T>::master(std::size_t offset) const {
  for (const MasterRange& each : master_ranges_)
    if (offset >= each.first && offset < each.first + each.size)
      return masters_.data() + each.position + (offset - each.first);
  throw std::logic_error("a network with NetworkUse::read has no master weights of matrices");
}

template <class T>
const T* DeviceWeights<T>::matrix(std::size_t offset) const {
  if constexpr (std::is_same_v<T, float>)
    return masters_.data() + offset;
  else
    return matrices_.data() + offset;
}

template <class T>
auto& DeviceWeights<T>::buffer(auto& self, StateVector which) {
  auto& chosen = which == StateVector::weights        ? self.masters_
                 : which == StateVector::first_moment ? self.first_moment_
                                                      : self.second_moment_;
  if (chosen.size() != self.layout_.size()) throw std::logic_error("this network is not trained");
  return chosen;
}

template <class T>
void DeviceWeights<T>::read(StateVector which, std::size_t first, std::span<float> to) const {
  const auto& from = buffer(*this, which);
  if (first > from.size() || to.size() > from.size() - first)
    throw std::out_of_range("the range exceeds the state vector");
  download(stream_, from.data() + first, to);
}

template <class T>
void DeviceWeights<T>::write(StateVector which, std::size_t first, std::span<const float> from) {
  if (which == StateVector::weights) return write_weights(first, from);
  auto& to = buffer(*this, which);
  if (first > to.size() || from.size() > to.size() - first)
    throw std::out_of_range("the range exceeds the state vector");
  upload(stream_, to.data() + first, from);
}

template <class T>
void DeviceWeights<T>::write_weights(std::size_t first, std::span<const float> from) {
  if (first > layout_.size() || from.size() > layout_.size() - first)
    throw std::out_of_range("the range exceeds the layout");
  for (const MasterRange& each : master_ranges_) {
    const std::size_t begin = std::max(first, each.first), end = std::min(first + from.size(), each.first + each.size);
    if (begin < end)
      upload(stream_, masters_.data() + each.position + (begin - each.first), from.subspan(begin - first, end - begin));
  }
  if constexpr (!std::is_same_v<T, float>) {
    std::vector<T> rounded(from.size());
    std::ranges::transform(from, rounded.begin(), [](float weight) { return from_float<T>(weight); });
    upload(stream_, matrices_.data() + first, rounded);
  }
}

template <class T>
void DeviceWeights<T>::clear_gradients() {
  gradients_.fill_zero(stream_);
}

template <class T>
StepReport DeviceWeights<T>::report() const {
  StepReport report{};
  report_.download(stream_, {&report, 1});
  return report;
}

template <class T>
double DeviceWeights<T>::squared_norm() {
  cuda::squared_norm(stream_, layout_.size(), gradients_.data(), norm_partials_.data(), report_.data());
  return report().squared_norm;
}

template <class T>
bool DeviceWeights<T>::apply(const AdamWSettings& settings, float gradient_scale) {
  Bf16* rounded = nullptr;
  if constexpr (std::is_same_v<T, Bf16>) rounded = matrices_.data();
  adamw(stream_, layout_.size(),
        {masters_.data(), first_moment_.data(), second_moment_.data(), gradients_.data(), rounded, decayed_.data()},
        settings, gradient_scale, ++steps_, report_.data());
  return report().non_finite_weights == 0;
}

template class DeviceWeights<Bf16>;
template class DeviceWeights<float>;

}  // namespace starpo::cuda
