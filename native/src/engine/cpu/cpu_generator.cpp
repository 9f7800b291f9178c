#include "engine/cpu/cpu_generator.h"

#include <algorithm>

#include "engine/cpu/sampler.h"

namespace starpo {

CpuGenerator::CpuGenerator(const CpuModel& model, int slots, int context)
    : model_(model), prefix_slot_(slots), decoder_(model, slots + 1, context), slot_states_(slots) {}

void CpuGenerator::reset() {
  for (int slot = 0; slot < slots(); ++slot) end(slot);
  prefix_group_ = -1;
}

void CpuGenerator::begin(int slot, std::span<const std::int32_t> prompt, int group, std::uint32_t episode) {
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

void CpuGenerator::share_prefix(int group, std::span<const std::int32_t> prompt) {
  if (prefix_group_ == group && std::ranges::equal(prefix_, prompt)) return;
  decoder_.clear(prefix_slot_);
  prefix_.assign(prompt.begin(), prompt.end());
  prefix_group_ = group;
  if (prompt.size() < 2) return;
  const SlotTokens entry{prefix_slot_, std::span(prefix_).first(prefix_.size() - 1)};
  logits_.resize(model_.layout().config().vocab_size);
  decoder_.extend({&entry, 1}, logits_);
}

void CpuGenerator::append(int slot, std::span<const std::int32_t> tokens) {
  auto& pending = slot_states_.at(slot).pending;
  pending.insert(pending.end(), tokens.begin(), tokens.end());
}

void CpuGenerator::end(int slot) {
  decoder_.clear(slot);
  slot_states_.at(slot).pending.clear();
}

void CpuGenerator::generate(std::span<const ResponseRequest> requests, const DrawSettings& draws,
                            std::vector<std::vector<Choice>>& choices) {
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

std::int32_t CpuGenerator::draw(int entry, const SlotState& state, int slot, const DrawSettings& draws,
                                std::vector<float>& scratch) const {
  const std::size_t vocab = model_.layout().config().vocab_size;
  const auto position = static_cast<std::uint32_t>(decoder_.length(slot));
  const auto bits = draws.random(draws.iteration, state.episode, position, 0);
  return sample_token(std::span(logits_).subspan(entry * vocab, vocab), draws.sampling, uniform_open(bits[0]), scratch);
}

}  // namespace starpo
