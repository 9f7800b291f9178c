#include "engine/cpu/cpu_engine.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "base/format_bytes.h"
#include "base/processor.h"
#include "engine/cpu/decoder.h"
#include "engine/cpu/kernels/bf16_kernels.h"
#include "engine/cpu/kernels/isa.h"
#include "engine/cpu/key_value_cache.h"
#include "engine/cpu/sampler.h"
#include "engine/cpu/training_pass.h"

namespace starpo {
namespace {

class CpuPass final : public NetworkPass {
 public:
  CpuPass(const CpuModel& model, CpuTrainable* trained) : pass_(model), trained_(trained) {}

  void forward(const PackedBatch& batch, float temperature, std::span<float> logprobs,
               std::span<float> entropies) override {
    pass_.forward(batch, temperature, logprobs, entropies);
  }

  void forward_backward(const PackedBatch& batch, float temperature, const BatchLoss& loss, std::span<float> logprobs,
                        std::span<float> entropies, PolicyLossSums& sums) override {
    std::span<float> gradients = this->gradients();
    pass_.forward(batch, temperature, logprobs, entropies);
    logprob_gradients_.resize(logprobs.size());
    entropy_gradients_.resize(logprobs.size());
    loss_gradients(batch, loss, logprobs, entropies, sums, logprob_gradients_, entropy_gradients_);
    pass_.backward(logprob_gradients_, entropy_gradients_, gradients);
  }

  void backward(std::span<const float> logprob_gradients, std::span<const float> entropy_gradients) override {
    pass_.backward(logprob_gradients, entropy_gradients, gradients());
  }

  std::span<const float> features() const override { return pass_.features(); }
  void forward_values(const PackedBatch& batch, std::span<float> values) override {
    pass_.forward_values(batch, values);
  }
  void backward_values(std::span<const float> value_gradients) override {
    pass_.backward_values(value_gradients, gradients());
  }

 private:
  std::span<float> gradients() {
    if (trained_ == nullptr) throw std::logic_error("this network is not trained");
    return trained_->gradients();
  }

  CpuTrainingPass pass_;
  CpuTrainable* trained_;
  std::vector<float> logprob_gradients_, entropy_gradients_;
};

// Samples one id per slot and call, in one batch.
class CpuGenerator final : public Generator {
 public:
  CpuGenerator(const CpuModel& model, int slots, int context)
      : model_(model), prefix_slot_(slots), decoder_(model, slots + 1, context), slot_states_(slots) {}

  int slots() const override { return static_cast<int>(slot_states_.size()); }
  int context() const override { return decoder_.context(); }

  void reset() override {
    for (int slot = 0; slot < slots(); ++slot) end(slot);
    prefix_group_ = -1;
  }

  void begin(int slot, std::span<const std::int32_t> prompt, int group, std::uint32_t episode) override {
    SlotState& state = slot_states_.at(slot);
    state.episode = episode;
    decoder_.clear(slot);
    if (group < 0) {
      state.pending.assign(prompt.begin(), prompt.end());
      return;
    }
    share_prefix(group, prompt);
    // generate() computes the last token, whose logits give the first choice.
    decoder_.copy(prefix_slot_, slot, static_cast<int>(prompt.size()) - 1);
    state.pending.assign(prompt.end() - 1, prompt.end());
  }

  void append(int slot, std::span<const std::int32_t> tokens) override {
    auto& pending = slot_states_.at(slot).pending;
    pending.insert(pending.end(), tokens.begin(), tokens.end());
  }

  void end(int slot) override {
    decoder_.clear(slot);
    slot_states_.at(slot).pending.clear();
  }

  void generate(std::span<const ResponseRequest> requests, const DrawSettings& draws,
                std::vector<std::vector<Choice>>& choices) override {
    const int count = static_cast<int>(requests.size()), vocab = model_.layout().config().vocab_size;
    entries_.clear();
    for (const ResponseRequest& request : requests)
      entries_.push_back({request.slot, slot_states_.at(request.slot).pending});
    logits_.resize(static_cast<std::size_t>(count) * vocab);
    decoder_.extend(entries_, logits_);

    ids_.resize(count);
    logprobs_.resize(count);
    entropies_.resize(count);
    const int chunk = 8, chunks = (count + chunk - 1) / chunk;
    model_.threads().parallel_for(chunks, [&](int c) {
      std::vector<float> scratch;
      for (int i = c * chunk; i < std::min(count, (c + 1) * chunk); ++i)
        ids_[i] = draw(i, slot_states_[requests[i].slot], requests[i].slot, draws, scratch);
    });
    const auto finite = [](std::int32_t id) { return id >= 0; };
    if (std::all_of(ids_.begin(), ids_.end(), finite))
      logprob_and_entropy(logits_, vocab, ids_, draws.sampling.temperature, logprobs_, entropies_, model_.threads());

    choices.resize(count);
    for (int i = 0; i < count; ++i) {
      choices[i].assign(1, {ids_[i], logprobs_[i], entropies_[i]});
      slot_states_[requests[i].slot].pending.assign(1, ids_[i]);
    }
  }

 private:
  // A slot's episode and the tokens for its next step.
  struct SlotState {
    std::uint32_t episode = 0;
    std::vector<std::int32_t> pending;
  };

  void share_prefix(int group, std::span<const std::int32_t> prompt) {
    if (prefix_group_ == group && std::ranges::equal(prefix_, prompt)) return;
    decoder_.clear(prefix_slot_);
    prefix_.assign(prompt.begin(), prompt.end());
    prefix_group_ = group;
    if (prompt.size() < 2) return;
    const SlotTokens entry{prefix_slot_, std::span(prefix_).first(prefix_.size() - 1)};
    logits_.resize(model_.layout().config().vocab_size);
    decoder_.extend({&entry, 1}, logits_);
  }

  std::int32_t draw(int entry, const SlotState& state, int slot, const DrawSettings& draws,
                    std::vector<float>& scratch) const {
    const std::size_t vocab = model_.layout().config().vocab_size;
    const auto position = static_cast<std::uint32_t>(decoder_.length(slot));
    const auto bits = draws.random(draws.iteration, state.episode, position, 0);
    return sample_token(std::span(logits_).subspan(entry * vocab, vocab), draws.sampling, uniform_open(bits[0]),
                        scratch);
  }

  const CpuModel& model_;
  int prefix_slot_;  // the last slot of the decoder, which caches the prompt of a group without its last token
  CpuDecoder decoder_;
  std::vector<SlotState> slot_states_;
  int prefix_group_ = -1;
  std::vector<std::int32_t> prefix_;

  std::vector<SlotTokens> entries_;
  std::vector<float> logits_, logprobs_, entropies_;
  std::vector<std::int32_t> ids_;
};

}  // namespace

CpuNetwork::CpuNetwork(const ModelConfig& config, ThreadPool& threads, Precision precision, ModelHead head,
                       NetworkUse use)
    : model_(config, threads, precision, head, use) {
  if (use == NetworkUse::trained)
    trained_.emplace(model_.layout().tensors(), model_.mutable_weights(), threads,
                     [this](std::size_t first, std::size_t count) { model_.weights_changed(first, count); });
}

Trainable& CpuNetwork::trained() {
  if (!trained_) throw std::logic_error("this network is not trained");
  return *trained_;
}

void CpuNetwork::read_weights(std::size_t first, std::span<float> to) const {
  if (!trained_) throw std::logic_error("weights of a network with NetworkUse::read can't be read back");
  trained_->read(StateVector::weights, first, to);
}

void CpuNetwork::write_weights(std::size_t first, std::span<const float> from) { model_.write(first, from); }

std::unique_ptr<Generator> CpuNetwork::make_generator(int slots, int context) {
  return std::make_unique<CpuGenerator>(model_, slots, context);
}
std::unique_ptr<NetworkPass> CpuNetwork::make_pass() {
  return std::make_unique<CpuPass>(model_, trained_ ? &*trained_ : nullptr);
}

std::string CpuEngine::device_name() const { return describe_processor().name; }

// The instruction set of matrix products: scalar, avx2 or avx512, which are bit-identical, or in bf16 amx_bf16 or
// avx512_bf16, which are not.
std::string CpuEngine::instructions() const {
  return precision_ == Precision::bf16 ? bf16_kernels_name() : isa_name(selected_isa());
}

int CpuEngine::default_pass_tokens(const EngineNeeds& needs) const {
  // These numbers let activations fit the caches. They change no bit.
  constexpr int maximum = 4096, minimum = 512;
  const std::int64_t available = available_memory_bytes();
  EngineNeeds candidate = needs;
  for (candidate.pass_tokens = maximum; candidate.pass_tokens > std::max(minimum, needs.context);
       candidate.pass_tokens /= 2)
    if (plan_cpu_memory(candidate, precision_).total_bytes() <= available) return candidate.pass_tokens;
  return std::max(minimum, needs.context);
}

MemoryPlan CpuEngine::reserve(const EngineNeeds& needs) {
  const auto plan_memory = [this](const EngineNeeds& each) { return plan_cpu_memory(each, precision_); };
  MemoryPlan plan = plan_memory(needs);
  plan.device = device();
  plan.device_bytes = total_memory_bytes();
  plan.free_bytes = available_memory_bytes();
  if (plan.total_bytes() > plan.free_bytes)
    throw Error("out_of_memory",
                "up to " + format_bytes(plan.total_bytes()) + " of memory are needed, but only " +
                    format_bytes(plan.free_bytes) + " are free",
                setting_that_fits(needs, plan_memory, plan.free_bytes));
  return plan;
}

std::unique_ptr<Network> CpuEngine::make_network(const ModelConfig& config, ModelHead head, NetworkUse use) {
  return std::make_unique<CpuNetwork>(config, threads_, precision_, head, use);
}

MemoryPlan plan_cpu_memory(const EngineNeeds& needs, Precision precision) {
  const auto network = [&](ModelHead head, NetworkUse use) {
    const ParameterLayout layout(needs.model, head);
    return CpuModel::bytes(layout, precision, use) +
           (use == NetworkUse::trained ? CpuTrainable::bytes(layout.size()) : 0);
  };
  MemoryPlan plan;
  const auto add = [&](const char* name, std::int64_t bytes) {
    if (bytes > 0) plan.parts.push_back({name, MemoryLifetime::run, bytes});
  };
  const NetworkUse policy_use = needs.trains_policy ? NetworkUse::trained : NetworkUse::read;
  add("policy", network(ModelHead::language, policy_use));
  if (needs.trains_critic) add("critic", network(ModelHead::value, NetworkUse::trained));
  if (needs.reads_reference) add("reference", network(ModelHead::language, NetworkUse::read));
  if (needs.reads_start) add("start", network(ModelHead::language, NetworkUse::read));
  if (needs.slots > 0) {
    // One extra slot computes the prompt of a group. Shared tokens are stored outside the cache, but leave the same
    // amount of the cache untouched.
    add("kv_cache", KeyValueCache::bytes(needs.model, needs.slots + 1, needs.context, precision));
    add("rollout_buffers", static_cast<std::int64_t>(sizeof(float)) * needs.slots * needs.model.vocab_size);
  }
  if (needs.pass_tokens > 0) {
    const auto pass = [&](ModelHead head, NetworkUse use) {
      return CpuTrainingPass::bytes(needs.model, head, needs.pass_tokens, use);
    };
    CpuTrainingPass::Bytes sum = pass(ModelHead::language, policy_use);
    const auto add_pass = [&](const CpuTrainingPass::Bytes& bytes) {
      sum = {sum.activations + bytes.activations, sum.logits + bytes.logits};
    };
    if (needs.trains_critic) add_pass(pass(ModelHead::value, NetworkUse::trained));
    if (needs.reads_reference) add_pass(pass(ModelHead::language, NetworkUse::read));
    if (needs.reads_start) add_pass(pass(ModelHead::language, NetworkUse::read));
    add("activations", sum.activations);
    add("logits", sum.logits);
  }
  return plan;
}

}  // namespace starpo
