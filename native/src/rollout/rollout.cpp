#include "rollout/rollout.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <optional>

#include "base/error.h"
#include "env/late_environment.h"

namespace starpo {
namespace {

// A slot of the decoding batch and the episode that occupies it.
struct Slot {
  std::optional<EpisodePlayer> player;
  int episode = -1;
  bool begun = false;  // the generator has a context of the episode
};

// Two environments of different programs can't be waited for together, so each waits at most this long.
constexpr std::chrono::milliseconds kWait{10};

// A context that begins in turn k draws with the number of its episode plus k times this, because positions start
// again. Numbers differ while an iteration has fewer than 2^24 episodes, as each may be played twice.
constexpr std::size_t kDrawsPerTurn = std::size_t{1} << 25;

// Assigns episodes to free slots and decodes all slots together until every episode has finished.
class SlotScheduler {
 public:
  SlotScheduler(Generator& generator, const RolloutRequest& request)
      : generator_(generator),
        request_(request),
        draws_{request.random, request.iteration, request.sampling, request.rules.front().chat.stop_ids()},
        slots_(generator.slots()),
        episodes_(request.episodes.size()),
        failures_(request.episodes.size()),
        isolated_(request.episodes.size()) {
    if (request.reward_program) scoring_.emplace(*request.reward_program, request.episodes.size());
  }

  std::vector<Episode> play() {
    generator_.reset();
    while (finished_ < static_cast<int>(episodes_.size())) {
      for (int slot = 0; slot < static_cast<int>(slots_.size()); ++slot)
        if (!slots_[slot].player && has_next()) assign(slot);
      receive_answers();
      receive_scores();
      step();
      if (request_.progress) request_.progress(finished_);
    }
    for (std::size_t i = 0; i < episodes_.size(); ++i) {
      episodes_[i].number = request_.first_number + static_cast<int>(i);
      episodes_[i].failures.insert(episodes_[i].failures.begin(), failures_[i].begin(), failures_[i].end());
    }
    return std::move(episodes_);
  }

 private:
  bool has_next() const { return next_ < static_cast<int>(episodes_.size()) || !again_.empty(); }

  void assign(int slot) {
    Slot& state = slots_[slot];
    state.begun = false;
    if (next_ < static_cast<int>(episodes_.size())) {
      state.episode = next_++;
    } else {
      state.episode = again_.front();
      again_.pop_front();
    }
    const EpisodeSpec& spec = request_.episodes[state.episode];
    unless_environment_fails(slot, [&] {
      auto environment = request_.prototypes[spec.environment]->clone();
      if (isolated_[state.episode]) environment->late()->isolate();
      state.player.emplace(request_.rules[spec.environment], std::move(environment), spec,
                           EpisodePlayer::Waiting::returns);
      if (!state.player->waiting()) read(slot, state.player->prompt());
    });
  }

  // Passes ids that the player returned to the generator.
  void read(int slot, std::span<const std::int32_t> ids) {
    Slot& state = slots_[slot];
    if (ids.empty()) return;
    if (!state.player->begins_context()) return generator_.append(slot, ids);
    const std::size_t turn = state.player->episode().turns.size() - 1;
    // An episode that is played again draws other tokens.
    const std::size_t draw = 2 * static_cast<std::size_t>(request_.first_number) +
                             static_cast<std::size_t>(state.episode) +
                             (failures_[state.episode].empty() ? 0 : episodes_.size()) + turn * kDrawsPerTurn;
    const bool shared = turn == 0 && shares_prompt(state.episode);
    generator_.begin(slot, ids, shared ? request_.episodes[state.episode].group : -1, static_cast<std::uint32_t>(draw));
    state.begun = true;
  }

  // Continues the episodes whose environments have answered. Blocks only if no slot can decode.
  void receive_answers() {
    bool decodes = false;
    for (const Slot& state : slots_) decodes |= state.player && !state.player->waiting();
    std::vector<bool> received(request_.rules.size());
    for (int slot = 0; slot < static_cast<int>(slots_.size()); ++slot) {
      Slot& state = slots_[slot];
      if (!state.player || !state.player->waiting()) continue;
      const int environment = request_.episodes[state.episode].environment;
      if (!received[environment]) state.player->late()->wait(decodes ? std::chrono::milliseconds(0) : kWait);
      received[environment] = true;
      unless_environment_fails(slot, [&] { advance(slot); });
    }
  }

  void advance(int slot) {
    Slot& state = slots_[slot];
    read(slot, state.player->advance());
    finish_if_ended(slot);
  }

  template <class Play>
  void unless_environment_fails(int slot, const Play& play) {
    try {
      play();
    } catch (const EnvironmentFailure& failure) {
      void_episode(slot, failure);
    }
  }

  // Plays the episode once more, and leaves it void if it fails again. If another episode of the same process may have
  // caused the failure, plays the episode again in a process of its own.
  void void_episode(int slot, const EnvironmentFailure& failure) {
    const std::string reason = failure.what();
    Slot& state = slots_[slot];
    Episode partial = state.player ? state.player->take() : Episode{};
    state.player.reset();
    if (state.begun) generator_.end(slot);
    std::vector<std::string>& failures = failures_[state.episode];
    failures.push_back(reason);
    if (failure.is_shared()) isolated_[state.episode] = true;
    if (failures.size() == 1 || failure.is_shared()) {
      again_.push_back(state.episode);
      return;
    }
    Episode& episode = episodes_[state.episode] = std::move(partial);
    episode.spec = request_.episodes[state.episode];
    episode.make_void();
    ++finished_;
    count_void("the environment " + rules_of(state.episode).environment.label, reason);
  }

  void count_void(const std::string& culprit, const std::string& reason) {
    if (++void_ * 2 > static_cast<int>(episodes_.size()))
      throw Error("environment_failed",
                  "more than half of the episodes failed, the last one in " + culprit + ": " + reason,
                  "fix " + culprit + ", then resume the run or repeat the evaluation");
  }

  const EpisodeRules& rules_of(int episode) const { return request_.rules[request_.episodes[episode].environment]; }

  // Blocks only if every episode that is not finished waits for its score.
  void receive_scores() {
    if (!scoring_) return;
    const bool plays = has_next() || std::ranges::any_of(slots_, [](const Slot& slot) { return !!slot.player; });
    for (const std::size_t i : scoring_->receive(episodes_, plays ? std::chrono::milliseconds(0) : kWait)) {
      ++finished_;
      if (episodes_[i].is_void())
        count_void("the reward program", episodes_[i].failures.back().substr(kRewardProgramFailure.size()));
    }
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
      if (slots_[slot].player && !slots_[slot].player->waiting())
        requests_.push_back({slot, slots_[slot].player->response_tokens_left()});
    if (requests_.empty()) return;
    generator_.generate(requests_, draws_, choices_);
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const int slot = requests_[i].slot;
      unless_environment_fails(slot, [&] { accept(slot, choices_[i]); });
    }
  }

  void accept(int slot, std::span<const Choice> choices) {
    Slot& state = slots_[slot];
    for (const Choice& choice : choices) {
      if (choice.id < 0 || !std::isfinite(choice.logprob))
        throw Error(
            "non_finite_logprob",
            choice.id < 0 ? "the policy's logits are not finite" : "a sampled token's log-probability is not finite",
            "fork the run from an earlier checkpoint with a lower optimizer.learning_rate, or evaluate another "
            "checkpoint; if the run has not trained yet, use another start.model");
      read(slot, state.player->accept(choice.id, choice.logprob, choice.entropy));
    }
    finish_if_ended(slot);
  }

  void finish_if_ended(int slot) {
    Slot& state = slots_[slot];
    if (!state.player->finished()) return;
    const Episode& episode = episodes_[state.episode] = state.player->take();
    state.player.reset();
    generator_.end(slot);
    if (scoring_)
      scoring_->send(static_cast<std::size_t>(state.episode), episode, rules_of(state.episode).environment);
    else
      ++finished_;
  }

  Generator& generator_;
  const RolloutRequest& request_;
  DrawSettings draws_;
  std::vector<Slot> slots_;
  std::vector<Episode> episodes_;
  std::vector<std::vector<std::string>> failures_;  // [episodes] reasons
  std::vector<bool> isolated_;                      // [episodes]; see LateEnvironment::isolate
  std::optional<EpisodeScoring> scoring_;           // with a reward program
  std::deque<int> again_;                           // episodes whose environment failed once
  int next_ = 0;
  int void_ = 0;
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
