#include "engine/cpu/cpu_network.h"

#include "engine/cpu/cpu_generator.h"
#include "engine/cpu/training_pass.h"

namespace starpo {
namespace {

class CpuPass final : public NetworkPass {
 public:
  CpuPass(const Model& model, CpuTrainable& parameters) : pass_(model), parameters_(parameters) {}

  void forward(const PackedBatch& batch, float temperature, std::span<float> logprobs, std::span<float> entropies) override {
    pass_.forward(batch, temperature, logprobs, entropies);
  }

  void learn(const PackedBatch& batch, float temperature, const BatchLoss& loss, std::span<float> logprobs, std::span<float> entropies, PolicyLossSums& sums) override {
    pass_.forward(batch, temperature, logprobs, entropies);
    logprob_gradients_.resize(logprobs.size());
    entropy_gradients_.resize(logprobs.size());
    loss_gradients(batch, loss, logprobs, entropies, sums, logprob_gradients_, entropy_gradients_);
    pass_.backward(logprob_gradients_, entropy_gradients_, parameters_.gradients());
  }

  std::span<const float> features() const override { return pass_.features(); }
  void forward_values(const PackedBatch& batch, std::span<float> values) override { pass_.forward_values(batch, values); }
  void backward_values(std::span<const float> value_gradients) override { pass_.backward_values(value_gradients, parameters_.gradients()); }

 private:
  TrainingPass pass_;
  CpuTrainable& parameters_;
  std::vector<float> logprob_gradients_, entropy_gradients_;
};

}  // namespace

CpuNetwork::CpuNetwork(const ModelConfig& config, ThreadPool& threads, Precision precision, ModelHead head)
    : model_(config, threads, precision, head),
      parameters_(model_.mutable_weights(), decayed_weights(model_.layout()), threads, [this] { model_.weights_changed(); }) {}

std::unique_ptr<Generator> CpuNetwork::make_generator(int slots, int context) { return std::make_unique<CpuGenerator>(model_, slots, context); }
std::unique_ptr<NetworkPass> CpuNetwork::make_pass() { return std::make_unique<CpuPass>(model_, parameters_); }

}  // namespace starpo
