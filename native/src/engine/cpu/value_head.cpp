#include <stdexcept>

#include "engine/cpu/cpu_trainable.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/model.h"
#include "engine/engine.h"

namespace starpo {
namespace {

std::vector<TensorSlot> tensors_of(int hidden) {
  const auto inputs = static_cast<std::size_t>(hidden);
  return {{"score.weight", {1, hidden}, 0, inputs}, {"score.bias", {1}, inputs, 1}};
}

// A value head on the CPU. weights: [hidden + 1], with the bias last.
class CpuValueHead final : public ValueHead {
 public:
  CpuValueHead(int hidden, ThreadPool& threads)
      : hidden_(hidden),
        weights_(hidden + 1),
        trained_(tensors_of(hidden), weights_, threads, [this](std::size_t, std::size_t) { pack(); }) {
    packed_.reserve(packed_size(hidden, 1));
    pack();
  }

  Trainable& trained() override { return trained_; }

  void forward(std::span<const float> features, std::span<float> values) override {
    if (features.size() != values.size() * hidden_) throw std::invalid_argument("features must be [rows, hidden]");
    features_.assign(features.begin(), features.end());
    kernels().multiply(static_cast<int>(values.size()), 1, hidden_, features.data(), hidden_, packed_.data(),
                       &weights_[hidden_], 0, values.data(), 1);
  }

  void backward(std::span<const float> value_gradients) override {
    if (features_.size() != value_gradients.size() * hidden_)
      throw std::invalid_argument("value gradients must have shape [rows] of the last forward pass");
    const std::span<float> gradients = trained_.gradients();
    if (gradients.size() != weights_.size()) throw std::logic_error("call clear_gradients before backward");
    const int rows = static_cast<int>(value_gradients.size());
    kernels().accumulate_transposed(1, hidden_, rows, value_gradients.data(), 1, features_.data(), hidden_,
                                    gradients.data(), hidden_);
    kernels().column_sums(rows, 1, value_gradients.data(), 1, &gradients[hidden_]);
  }

 private:
  void pack() { pack_transposed(1, hidden_, weights_.data(), hidden_, packed_.data()); }

  int hidden_;
  std::vector<float> weights_;
  std::vector<float> features_;  // of the last forward
  AlignedBuffer packed_;
  CpuTrainable trained_;
};

}  // namespace

std::unique_ptr<ValueHead> make_value_head(int hidden, ThreadPool& threads) {
  return std::make_unique<CpuValueHead>(hidden, threads);
}

}  // namespace starpo
