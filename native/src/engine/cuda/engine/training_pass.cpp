#include "engine/cuda/engine/training_pass.h"

#include <algorithm>
#include <stdexcept>

#include "engine/cuda/kernels/column_sums.h"
#include "engine/cuda/kernels/convert.h"
#include "engine/cuda/kernels/embedding.h"
#include "engine/cuda/kernels/loss.h"
#include "engine/cuda/kernels/value_head.h"

namespace starpo::cuda {
namespace {

void check_results(const PackedBatch& batch, std::span<const float> logprobs, std::span<const float> entropies) {
  if (logprobs.size() != batch.targets.size() || entropies.size() != batch.targets.size())
    throw std::invalid_argument("log-probabilities and entropies must have shape [targets]");
}

template <class T>
class CudaTrainingPass final : public NetworkPass {
 public:
  CudaTrainingPass(Stream& stream, DeviceWeights<T>& weights, const Products<T>& products, const RotaryTables& rotary,
                   const TrainingBuffers<T>& buffers, Recompute recompute, bool backward)
      : stream_(stream),
        weights_(weights),
        products_(products),
        rotary_(rotary),
        buffers_(buffers),
        recompute_(recompute),
        backward_(backward) {}

  void forward(const PackedBatch& batch, float temperature, std::span<float> logprobs,
               std::span<float> entropies) override {
    check_results(batch, logprobs, entropies);
    temperature_ = temperature;
    if (!run_blocks(batch)) return;
    for (int first = 0; first < buffers_.batch.targets; first += buffers_.chunk) {
      const int rows = std::min(buffers_.chunk, buffers_.batch.targets - first);
      logprob_entropy(stream_, chunk_logits(first, rows, temperature), buffers_.batch.target_ids + first,
                      buffers_.logprobs + first, buffers_.entropies + first);
    }
    download(stream_, buffers_.logprobs, logprobs);
    download(stream_, buffers_.entropies, entropies);
  }

  void forward_backward(const PackedBatch& batch, float temperature, const BatchLoss& loss, std::span<float> logprobs,
                        std::span<float> entropies, PolicyLossSums& sums) override {
    if (!backward_) throw std::logic_error("this network is not trained");
    check_results(batch, logprobs, entropies);
    if (!run_blocks(batch)) return;
    upload_loss(loss);
    TrainingBuffers<T>& b = buffers_;
    for (int first = 0; first < b.batch.targets; first += b.chunk) {
      const int rows = std::min(b.chunk, b.batch.targets - first);
      const Logits logits = chunk_logits(first, rows, temperature);
      const std::int32_t* const targets = b.batch.target_ids + first;
      if (loss.objective == Objective::likelihood) {
        given_loss(stream_, logits, given_rows(first), b.logprobs + first, b.entropies + first, b.logit_gradient);
      } else {
        const float* const reference = loss.kl.coefficient > 0 ? b.reference_logprobs + first : nullptr;
        policy_loss(stream_, logits,
                    {targets, b.loss_weights + first, b.rollout_logprobs + first, b.advantages + first, reference},
                    loss.policy, loss.kl, b.logprobs + first, b.entropies + first, b.logit_gradient);
      }
      chunk_backward(first, rows);
    }
    blocks_backward();
    download(stream_, b.logprobs, logprobs);
    download(stream_, b.entropies, entropies);
    // The host sums the loss in double and in order.
    std::vector<float> logprob_gradients(logprobs.size()), entropy_gradients(logprobs.size());
    loss_gradients(batch, loss, logprobs, entropies, sums, logprob_gradients, entropy_gradients);
  }

  void backward(std::span<const float> logprob_gradients, std::span<const float> entropy_gradients) override {
    if (!backward_) throw std::logic_error("this network is not trained");
    TrainingBuffers<T>& b = buffers_;
    const auto targets = static_cast<std::size_t>(b.batch.targets);
    if (logprob_gradients.size() != targets || entropy_gradients.size() != targets)
      throw std::invalid_argument("every target needs gradients");
    if (targets == 0) return;
    upload_gradients(logprob_gradients, entropy_gradients);
    for (int first = 0; first < b.batch.targets; first += b.chunk) {
      const int rows = std::min(b.chunk, b.batch.targets - first);
      given_loss(stream_, chunk_logits(first, rows, temperature_), given_rows(first), b.logprobs + first,
                 b.entropies + first, b.logit_gradient);
      chunk_backward(first, rows);
    }
    blocks_backward();
  }

  std::span<const float> features() const override {
    std::vector<T> copy(static_cast<std::size_t>(buffers_.batch.targets) * weights_.width().hidden);
    download(stream_, static_cast<const T*>(buffers_.head_normed), std::span(copy));
    features_.resize(copy.size());
    std::transform(copy.begin(), copy.end(), features_.begin(), [](T value) { return to_float(value); });
    return features_;
  }

  void forward_values(const PackedBatch& batch, std::span<float> values) override {
    if (weights_.layout().head() != ModelHead::value) throw std::logic_error("forward_values requires a value head");
    if (values.size() != batch.targets.size()) throw std::invalid_argument("values must have shape [targets]");
    if (!run_blocks(batch)) return;
    value_head(stream_, buffers_.batch.targets, weights_.width().hidden, buffers_.head_normed,
               weights_.master(weights_.offsets().head), weights_.master(weights_.offsets().head_bias),
               buffers_.values);
    download(stream_, buffers_.values, values);
  }

  void backward_values(std::span<const float> value_gradients) override {
    if (!backward_) throw std::logic_error("this network is not trained");
    TrainingBuffers<T>& b = buffers_;
    const ModelOffsets& at = weights_.offsets();
    if (value_gradients.size() != static_cast<std::size_t>(b.batch.targets))
      throw std::invalid_argument("every value needs a gradient");
    if (value_gradients.empty()) return;
    upload(stream_, b.values, value_gradients);
    value_head_backward(stream_, b.batch.targets, weights_.width().hidden, b.head_normed, weights_.master(at.head),
                        b.values, b.head_gradient, weights_.gradient(at.head), weights_.gradient(at.head_bias),
                        b.partials);
    blocks_backward();
  }

 private:
  // Returns false if the batch has no targets.
  bool run_blocks(const PackedBatch& batch) {
    TrainingBuffers<T>& b = buffers_;
    const Widths& width = weights_.width();
    b.batch.upload(stream_, batch, width.vocab);
    const int tokens = b.batch.tokens, targets = b.batch.targets;
    if (targets == 0) return false;
    embed(stream_, tokens, width.hidden, b.batch.ids, weights_.matrix(weights_.offsets().embedding), b.layers[0].x);
    const float* previous = b.layers[0].x;
    const T* delta = nullptr;
    for (int layer = 0; layer < static_cast<int>(b.layers.size()); ++layer) {
      run_block(layer, previous, delta);
      previous = b.layers[layer].middle;
      delta = b.delta;
    }
    const float* const norm = weights_.master(weights_.offsets().final_norm);
    const float epsilon = weights_.layout().config().rms_norm_eps;
    residual_norm(stream_, tokens, width.hidden, previous, delta, b.final_x, norm, epsilon, b.rounded, nullptr);
    gather_rows(stream_, targets, width.hidden, b.final_x, b.batch.target_rows, b.head_x);
    residual_norm(stream_, targets, width.hidden, b.head_x, static_cast<const T*>(nullptr), norm, epsilon,
                  b.head_normed, b.head_rms);
    return true;
  }

  void run_block(int layer, const float* previous, const T* delta) {
    const TrainingBuffers<T>& b = buffers_;
    const LayerBuffers<T>& own = b.layers[layer];
    const Widths& width = weights_.width();
    run_layer(
        stream_, weights_, products_, layer, b.batch.tokens, previous, delta, own, b.delta, [&](const float* bias) {
          bias_rope(stream_, b.batch.tokens, qkv_shape(width), own.qkv, bias, b.batch.positions, rotary_);
          attention_forward(stream_, attention_shape(width), b.batch.sequences, own.qkv, own.attended, own.log_sum_exp);
        });
  }

  Logits chunk_logits(int first, int rows, float temperature) {
    const Widths& width = weights_.width();
    products_.forward(rows, width.vocab, width.hidden,
                      buffers_.head_normed + static_cast<std::size_t>(first) * width.hidden,
                      weights_.matrix(weights_.offsets().head), buffers_.logits);
    return {buffers_.logits, rows, width.vocab, row_stride(width.vocab), temperature};
  }

  // Gradients use the memory of the fused loss's inputs.
  void upload_gradients(std::span<const float> from_logprob, std::span<const float> from_entropy) {
    upload(stream_, buffers_.loss_weights, from_logprob);
    upload(stream_, buffers_.advantages, from_entropy);
  }

  LossGradientRows given_rows(int first) const {
    return {buffers_.batch.target_ids + first, buffers_.loss_weights + first, buffers_.advantages + first};
  }

  void upload_loss(const BatchLoss& loss) {
    for (auto* each : {&loss_weights_, &rollout_logprobs_, &advantages_, &reference_logprobs_}) each->clear();
    const auto& counts = buffers_.batch.target_counts;
    if (loss.sequences.size() != counts.size()) throw std::invalid_argument("every sequence needs a loss");
    for (std::size_t i = 0; i < loss.sequences.size(); ++i) {
      const SequenceLoss& sequence = loss.sequences[i];
      loss_weights_.insert(loss_weights_.end(), counts[i], static_cast<float>(sequence.weight));
      rollout_logprobs_.insert(rollout_logprobs_.end(), sequence.rollout_logprobs.begin(),
                               sequence.rollout_logprobs.end());
      advantages_.insert(advantages_.end(), sequence.advantages.begin(), sequence.advantages.end());
      reference_logprobs_.insert(reference_logprobs_.end(), sequence.reference_logprobs.begin(),
                                 sequence.reference_logprobs.end());
    }
    const std::size_t targets = loss_weights_.size();
    const auto has_size = [&](const std::vector<float>& values, bool required) {
      return values.size() == targets || (values.empty() && !required);
    };
    const bool policy = loss.objective == Objective::policy;
    if (!has_size(rollout_logprobs_, policy) || !has_size(advantages_, policy) ||
        !has_size(reference_logprobs_, policy && loss.kl.coefficient > 0))
      throw std::invalid_argument("the loss inputs must have shape [targets]");
    if (!policy) {
      for (float& weight : loss_weights_) weight = -weight;
      return upload_gradients(loss_weights_, std::vector<float>(targets));
    }
    upload(stream_, buffers_.loss_weights, loss_weights_);
    upload(stream_, buffers_.rollout_logprobs, rollout_logprobs_);
    upload(stream_, buffers_.advantages, advantages_);
    upload(stream_, buffers_.reference_logprobs, reference_logprobs_);
  }

  // Computes the gradients of the head's weights and input from the gradient of the logits.
  void chunk_backward(int first, int rows) {
    const TrainingBuffers<T>& b = buffers_;
    const Widths& width = weights_.width();
    const std::size_t head = weights_.offsets().head, at = static_cast<std::size_t>(first) * width.hidden;
    products_.backward(rows, width.vocab, width.hidden, b.logit_gradient, b.head_normed + at, weights_.gradient(head),
                       weights_.matrix(head), b.head_gradient + at);
  }

  void blocks_backward() {
    TrainingBuffers<T>& b = buffers_;
    b.batch.upload_order(stream_);  // the host sorts while the device computes the head
    const Widths& width = weights_.width();
    const int tokens = b.batch.tokens, targets = b.batch.targets;
    const std::size_t norm = weights_.offsets().final_norm, row = width.hidden * sizeof(float);
    fill_bytes(stream_, b.head_x_gradient, 0, targets * row);
    norm_backward(stream_, targets, width.hidden, b.head_x, weights_.master(norm), b.head_rms, b.head_gradient,
                  b.head_x_gradient, static_cast<T*>(nullptr), weights_.gradient(norm), b.partials);
    fill_bytes(stream_, b.final_x, 0, tokens * row);
    scatter_rows(stream_, targets, width.hidden, b.head_x_gradient, b.batch.target_rows, b.final_x);
    convert(stream_, static_cast<std::size_t>(tokens) * width.hidden, b.final_x, b.rounded);
    for (int layer = static_cast<int>(b.layers.size()) - 1; layer >= 0; --layer) layer_backward(layer);
    embedding_gradient(stream_, b.batch.unique, width.hidden, b.batch.order_ids, b.batch.order_starts,
                       b.batch.order_rows, b.final_x, weights_.gradient(weights_.offsets().embedding));
  }

  void layer_backward(int layer) {
    const TrainingBuffers<T>& b = buffers_;
    const LayerBuffers<T>& own = b.layers[layer];
    const Widths& width = weights_.width();
    const LayerOffsets& at = weights_.offsets().layers[layer];
    const float epsilon = weights_.layout().config().rms_norm_eps;
    const auto recompute_norm = [&](float* x, std::size_t norm, T* normed) {
      residual_norm(stream_, b.batch.tokens, width.hidden, x, static_cast<const T*>(nullptr), weights_.master(norm),
                    epsilon, normed, nullptr);
    };
    if (recompute_ == Recompute::block) run_block(layer, own.x, nullptr);
    if (recompute_ == Recompute::elementwise) {
      recompute_norm(own.x, at.input_norm, own.normed);
      recompute_norm(own.middle, at.mlp_norm, own.middle_normed);
      swiglu(stream_, b.batch.tokens, width.intermediate, own.gate_up, own.hidden);
    }
    mlp_backward(layer);
    attention_backward(layer);
  }

  void mlp_backward(int layer) {
    const TrainingBuffers<T>& b = buffers_;
    const LayerBuffers<T>& own = b.layers[layer];
    const Widths& width = weights_.width();
    const LayerOffsets& at = weights_.offsets().layers[layer];
    const int tokens = b.batch.tokens;
    products_.backward(tokens, width.hidden, width.intermediate, b.rounded, own.hidden, weights_.gradient(at.down),
                       weights_.matrix(at.down), b.hidden_gradient);
    T* const gate_up_gradient = own.gate_up;  // overwrites values that are no longer needed
    swiglu_backward(stream_, tokens, width.intermediate, own.gate_up, b.hidden_gradient, gate_up_gradient);
    products_.backward(tokens, 2 * width.intermediate, width.hidden, gate_up_gradient, own.middle_normed,
                       weights_.gradient(at.gate_up), weights_.matrix(at.gate_up), b.normed_gradient);
    norm_backward(stream_, tokens, width.hidden, own.middle, weights_.master(at.mlp_norm), own.middle_rms,
                  b.normed_gradient, b.final_x, b.rounded, weights_.gradient(at.mlp_norm), b.partials);
  }

  void attention_backward(int layer) {
    const TrainingBuffers<T>& b = buffers_;
    const LayerBuffers<T>& own = b.layers[layer];
    const Widths& width = weights_.width();
    const LayerOffsets& at = weights_.offsets().layers[layer];
    const int tokens = b.batch.tokens;
    products_.backward(tokens, width.hidden, width.queries, b.rounded, own.attended, weights_.gradient(at.output),
                       weights_.matrix(at.output), b.attended_gradient);
    cuda::attention_backward(stream_, attention_shape(width), b.batch.sequences, own.qkv, own.attended,
                             b.attended_gradient, own.log_sum_exp, b.attention_scratch, b.qkv_gradient);
    rope_backward(stream_, tokens, qkv_shape(width), b.qkv_gradient, b.batch.positions, rotary_);
    column_sums(stream_, tokens, width.qkv, b.qkv_gradient, weights_.gradient(at.qkv_bias), b.partials);
    products_.backward(tokens, width.qkv, width.hidden, b.qkv_gradient, own.normed, weights_.gradient(at.qkv),
                       weights_.matrix(at.qkv), b.normed_gradient);
    norm_backward(stream_, tokens, width.hidden, own.x, weights_.master(at.input_norm), own.input_rms,
                  b.normed_gradient, b.final_x, b.rounded, weights_.gradient(at.input_norm), b.partials);
  }

  Stream& stream_;
  DeviceWeights<T>& weights_;
  Products<T> products_;
  RotaryTables rotary_;
  TrainingBuffers<T> buffers_;
  Recompute recompute_;
  bool backward_;
  float temperature_ = 1;                                                                 // of the last forward()
  std::vector<float> loss_weights_, rollout_logprobs_, advantages_, reference_logprobs_;  // [targets]
  mutable std::vector<float> features_;
};

}  // namespace

template <class T>
std::unique_ptr<NetworkPass> make_training_pass(Stream& stream, DeviceWeights<T>& weights, const Products<T>& products,
                                                const RotaryTables& rotary, const TrainingBuffers<T>& buffers,
                                                Recompute recompute, bool backward) {
  return std::make_unique<CudaTrainingPass<T>>(stream, weights, products, rotary, buffers, recompute, backward);
}

template std::unique_ptr<NetworkPass> make_training_pass(Stream&, DeviceWeights<Bf16>&, const Products<Bf16>&,
                                                         const RotaryTables&, const TrainingBuffers<Bf16>&, Recompute,
                                                         bool);
template std::unique_ptr<NetworkPass> make_training_pass(Stream&, DeviceWeights<float>&, const Products<float>&,
                                                         const RotaryTables&, const TrainingBuffers<float>&, Recompute,
                                                         bool);

}  // namespace starpo::cuda
