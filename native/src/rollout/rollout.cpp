#include "rollout/rollout.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace starpo {
namespace {

// One slot's episode and the tokens its next step feeds.
struct Seat {
  std::optional<EpisodePlayer> player;
  int episode = -1;
  std::vector<std::int32_t> pending;
};

class Table {
 public:
  Table(const Model& model, Decoder& decoder, const RolloutRequest& request)
      : model_(model), decoder_(decoder), request_(request), seats_(decoder.slots() - 1), prefix_slot_(decoder.slots() - 1), episodes_(request.episodes.size()) {}

  std::vector<Episode> play() {
    while (finished_ < static_cast<int>(episodes_.size())) {
      for (int slot = 0; slot < static_cast<int>(seats_.size()); ++slot)
        if (!seats_[slot].player && next_ < static_cast<int>(episodes_.size())) sit_down(slot);
      step();
      if (request_.progress) request_.progress(finished_);
    }
    return std::move(episodes_);
  }

 private:
  void sit_down(int slot) {
    const EpisodeSpec& spec = request_.episodes[next_];
    Seat& seat = seats_[slot];
    seat.episode = next_++;
    seat.player.emplace(request_.rules[spec.environment], request_.prototypes[spec.environment]->clone(), spec);
    const auto& prompt = seat.player->prompt();
    if (!has_group_mates(seat.episode)) {
      seat.pending = prompt;
      return;
    }
    share_prefix(spec, prompt);
    // The last token is left to the batched step, whose logits the first choice is drawn from.
    decoder_.copy(prefix_slot_, slot, static_cast<int>(prompt.size()) - 1);
    seat.pending.assign(prompt.end() - 1, prompt.end());
  }

  bool has_group_mates(int episode) const {
    const auto& specs = request_.episodes;
    const int group = specs[episode].group;
    return (episode > 0 && specs[episode - 1].group == group) || (episode + 1 < static_cast<int>(specs.size()) && specs[episode + 1].group == group);
  }

  void share_prefix(const EpisodeSpec& spec, const std::vector<std::int32_t>& prompt) {
    if (prefix_group_ == spec.group && prefix_ == prompt) return;
    decoder_.clear(prefix_slot_);
    prefix_ = prompt;
    prefix_group_ = spec.group;
    if (prompt.size() < 2) return;
    const SlotTokens entry{prefix_slot_, std::span(prompt).first(prompt.size() - 1)};
    logits_.resize(vocabulary());
    decoder_.extend({&entry, 1}, logits_);
  }

  void step() {
    entries_.clear();
    active_.clear();
    for (int slot = 0; slot < static_cast<int>(seats_.size()); ++slot) {
      if (!seats_[slot].player) continue;
      entries_.push_back({slot, seats_[slot].pending});
      active_.push_back(slot);
    }
    const int count = static_cast<int>(active_.size()), vocab = vocabulary();
    logits_.resize(static_cast<std::size_t>(count) * vocab);
    decoder_.extend(entries_, logits_);

    ids_.resize(count);
    logprobs_.resize(count);
    entropies_.resize(count);
    const int chunk = 8, chunks = (count + chunk - 1) / chunk;
    model_.threads().parallel_for(chunks, [&](int c) {
      std::vector<float> scratch;
      for (int i = c * chunk; i < std::min(count, (c + 1) * chunk); ++i) ids_[i] = sample(i, scratch);
    });
    for (int id : ids_)
      if (id < 0) throw Error("non_finite_logprob", "the policy's logits are not finite", "lower optimizer.learning_rate and go on from an earlier checkpoint");
    logprob_and_entropy(logits_, vocab, ids_, request_.sampling.temperature, logprobs_, entropies_, model_.threads());

    for (int i = 0; i < count; ++i) {
      Seat& seat = seats_[active_[i]];
      if (!std::isfinite(logprobs_[i]))
        throw Error("non_finite_logprob", "a sampled token's log-probability is not finite", "lower optimizer.learning_rate and go on from an earlier checkpoint");
      seat.pending = seat.player->accept(ids_[i], logprobs_[i], entropies_[i]);
      if (!seat.player->finished()) continue;
      episodes_[seat.episode] = seat.player->take();
      seat.player.reset();
      decoder_.clear(active_[i]);
      ++finished_;
    }
  }

  std::int32_t sample(int entry, std::vector<float>& scratch) const {
    const Seat& seat = seats_[active_[entry]];
    const auto bits = request_.random(request_.iteration, static_cast<std::uint32_t>(seat.episode), static_cast<std::uint32_t>(seat.player->length()), 0);
    const std::span<const float> row(logits_.data() + static_cast<std::size_t>(entry) * vocabulary(), vocabulary());
    return sample_token(row, request_.sampling, uniform_open(bits[0]), scratch);
  }

  int vocabulary() const { return model_.layout().config().vocab_size; }

  const Model& model_;
  Decoder& decoder_;
  const RolloutRequest& request_;
  std::vector<Seat> seats_;
  int prefix_slot_;
  int prefix_group_ = -1;
  std::vector<std::int32_t> prefix_;
  std::vector<Episode> episodes_;
  int next_ = 0;
  int finished_ = 0;

  std::vector<SlotTokens> entries_;
  std::vector<int> active_;
  std::vector<float> logits_, logprobs_, entropies_;
  std::vector<std::int32_t> ids_;
};

}  // namespace

std::vector<Episode> run_rollout(const Model& model, Decoder& decoder, const RolloutRequest& request) { return Table(model, decoder, request).play(); }

}  // namespace starpo
