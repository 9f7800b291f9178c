#include "rollout/rollout.h"

#include <cmath>
#include <optional>

#include "base/error.h"

namespace starpo {
namespace {

// A slot of the decoding batch and the episode that occupies it.
struct Slot {
  std::optional<EpisodePlayer> player;
  int episode = -1;
};

// Assigns episodes to free slots and decodes all slots together until every episode has finished.
class SlotScheduler {
 public:
  SlotScheduler(Generator& generator, const RolloutRequest& request)
      : generator_(generator),
        request_(request),
        draws_{request.random, request.iteration, request.sampling, request.rules.front().chat.stop_ids()},
        slots_(generator.slots()),
        episodes_(request.episodes.size()) {}

  std::vector<Episode> play() {
    generator_.reset();
    while (finished_ < static_cast<int>(episodes_.size())) {
      for (int slot = 0; slot < static_cast<int>(slots_.size()); ++slot)
        if (!slots_[slot].player && next_ < static_cast<int>(episodes_.size())) assign(slot);
      step();
      if (request_.progress) request_.progress(finished_);
    }
    return std::move(episodes_);
  }

 private:
  void assign(int slot) {
    const EpisodeSpec& spec = request_.episodes[next_];
    Slot& state = slots_[slot];
    state.episode = next_++;
    state.player.emplace(request_.rules[spec.environment], request_.prototypes[spec.environment]->clone(), spec);
    generator_.begin(slot, state.player->prompt(), shares_prompt(state.episode) ? spec.group : -1,
                     static_cast<std::uint32_t>(state.episode));
  }

  bool shares_prompt(int episode) const {
    const auto& specs = request_.episodes;
    const int group = specs[episode].group;
    return (episode > 0 && specs[episode - 1].group == group) ||
           (episode + 1 < static_cast<int>(specs.size()) && specs[episode + 1].group == group);
  }

  void step() {
    requests_.clear();
    for (int slot = 0; slot < static_cast<int>(slots_.size()); ++slot)
      if (slots_[slot].player) requests_.push_back({slot, slots_[slot].player->response_tokens_left()});
    generator_.generate(requests_, draws_, choices_);
    for (std::size_t i = 0; i < requests_.size(); ++i) accept(requests_[i].slot, choices_[i]);
  }

  void accept(int slot, std::span<const Choice> choices) {
    Slot& state = slots_[slot];
    for (const Choice& choice : choices) {
      if (choice.id < 0 || !std::isfinite(choice.logprob))
        throw Error(
            "non_finite_logprob",
            choice.id < 0 ? "the policy's logits are not finite" : "a sampled token's log-probability is not finite",
            "lower optimizer.learning_rate and resume from an earlier checkpoint");
      const auto context = state.player->accept(choice.id, choice.logprob, choice.entropy);
      if (!context.empty()) generator_.append(slot, context);
    }
    if (!state.player->finished()) return;
    episodes_[state.episode] = state.player->take();
    state.player.reset();
    generator_.end(slot);
    ++finished_;
  }

  Generator& generator_;
  const RolloutRequest& request_;
  DrawSettings draws_;
  std::vector<Slot> slots_;
  std::vector<Episode> episodes_;
  int next_ = 0;
  int finished_ = 0;

  std::vector<ResponseRequest> requests_;
  std::vector<std::vector<Choice>> choices_;
};

}  // namespace

SamplingSettings training_sampling(const RolloutConfig& rollout) {
  return {static_cast<float>(rollout.temperature), static_cast<float>(rollout.top_p), rollout.top_k,
          static_cast<float>(rollout.min_p)};
}

std::vector<Episode> run_rollout(Generator& generator, const RolloutRequest& request) {
  return SlotScheduler(generator, request).play();
}

}  // namespace starpo
