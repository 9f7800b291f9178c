#include "engine/cpu/cpu_network.h"

#include <stdexcept>

#include "engine/cpu/cpu_generator.h"
#include "engine/cpu/training_pass.h"

namespace starpo {
namespace {

class CpuPass final : public NetworkPass {
 public:
  CpuPass(const CpuModel& model, CpuTrainable* trained) : pass_(model), trained_(trained) {}

  void forward(const PackedBatch& batch, float temperature, std::span<float> logprobs, std::span<float> entropies) override {
    pass_.forward(batch, temperature, logprobs, entropies);
  }

  void learn(const PackedBatch& batch, float temperature, const BatchLoss& loss, std::span<float> logprobs, std::span<float> entropies, PolicyLossSums& sums) override {
    std::span<float> gradients = this->gradients();
    pass_.forward(batch, temperature, logprobs, entropies);
    logprob_gradients_.resize(logprobs.size());
    entropy_gradients_.resize(logprobs.size());
    loss_gradients(batch, loss, logprobs, entropies, sums, logprob_gradients_, entropy_gradients_);
    pass_.backward(logprob_gradients_, entropy_gradients_, gradients);
  }

  std::span<const float> features() const override { return pass_.features(); }
  void forward_values(const PackedBatch& batch, std::span<float> values) override { pass_.forward_values(batch, values); }
  void backward_values(std::span<const float> value_gradients) override { pass_.backward_values(value_gradients, gradients()); }

 private:
  std::span<float> gradients() {
    if (trained_ == nullptr) throw std::logic_error("this network doesn't learn");
    return trained_->gradients();
  }

  CpuTrainingPass pass_;
  CpuTrainable* trained_;
  std::vector<float> logprob_gradients_, entropy_gradients_;
};

}  // namespace

CpuNetwork::CpuNetwork(const ModelConfig& config, ThreadPool& threads, Precision precision, ModelHead head, NetworkUse use) : model_(config, threads, precision, head, use) {
  if (use == NetworkUse::trained)
    trained_.emplace(model_.layout().tensors(), model_.mutable_weights(), threads, [this](std::size_t first, std::size_t count) { model_.weights_changed(first, count); });
}

Trainable& CpuNetwork::trained() {
  if (!trained_) throw std::logic_error("this network doesn't learn");
  return *trained_;
}

void CpuNetwork::read_weights(std::size_t first, std::span<float> to) const {
  if (!trained_) throw std::logic_error("a network that is only read keeps no weights to give back");
  trained_->read(StateVector::weights, first, to);
}

void CpuNetwork::write_weights(std::size_t first, std::span<const float> from) { model_.write(first, from); }

std::unique_ptr<Generator> CpuNetwork::make_generator(int slots, int context) { return std::make_unique<CpuGenerator>(model_, slots, context); }
std::unique_ptr<NetworkPass> CpuNetwork::make_pass() { return std::make_unique<CpuPass>(model_, trained_ ? &*trained_ : nullptr); }

}  // namespace starpo
