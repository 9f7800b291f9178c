#include "train/update/replay_buffer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/philox.h"

namespace starpo {
namespace {

using json = nlohmann::json;

// Tolerance for products of doubles just below a whole number.
constexpr double kRounding = 1e-9;

Episode without_texts(const Episode& episode) {
  Episode copy;
  copy.spec = {episode.spec.environment, episode.spec.group, episode.spec.index_in_group, 0, {}};
  copy.score = episode.score;
  for (const Turn& turn : episode.turns) {
    Turn& own = copy.turns.emplace_back();
    own.state = turn.anchor.value_or(turn.state);
    own.terms = turn.terms;
    own.score = turn.score;
    own.think_tokens = turn.think_tokens;
    own.context_ids = turn.context_ids;
    own.begins_context = turn.begins_context;
    own.ids = turn.ids;
    own.logprobs = turn.logprobs;
  }
  return copy;
}

template <class Value>
json bytes_of(const std::vector<Value>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(Value));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return json::binary(std::move(bytes));
}

template <class Value>
std::vector<Value> values_of(const json& binary) {
  const auto& bytes = binary.get_binary();
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  return values;
}

json buffered_turn(const Turn& turn) {
  json terms = json::array();
  for (const RewardTerm& term : turn.terms) terms.push_back({term.name, term.value});
  return {{"state", bytes_of(std::vector<char>(turn.state.begin(), turn.state.end()))},  // may not be UTF-8
          {"terms", std::move(terms)},
          {"score", turn.score},
          {"think_tokens", turn.think_tokens},
          {"context", bytes_of(turn.context_ids)},
          {"begins_context", turn.begins_context},
          {"ids", bytes_of(turn.ids)},
          {"logprobs", bytes_of(turn.logprobs)}};
}

Turn turn_from(const json& stored) {
  Turn turn;
  const auto state = values_of<char>(stored.at("state"));
  turn.state.assign(state.begin(), state.end());
  for (const json& term : stored.at("terms")) turn.terms.push_back({term.at(0), term.at(1)});
  turn.score = stored.at("score");
  turn.think_tokens = stored.at("think_tokens");
  turn.context_ids = values_of<std::int32_t>(stored.at("context"));
  turn.begins_context = stored.value("begins_context", false);  // absent in older checkpoints
  turn.ids = values_of<std::int32_t>(stored.at("ids"));
  turn.logprobs = values_of<float>(stored.at("logprobs"));
  return turn;
}

}  // namespace

std::vector<ReplayGroup> replay_groups(int iteration, std::span<const Sequence> sequences) {
  std::vector<ReplayGroup> groups;
  for (const auto samples : sequences_by_episode(sequences)) {
    const Episode& episode = *samples.front().episode;
    if (groups.empty() || groups.back().episodes.back().spec.group != episode.spec.group)
      groups.push_back({iteration, {}});
    groups.back().episodes.push_back(without_texts(episode));
  }
  return groups;
}

std::vector<const ReplayGroup*> ReplayBuffer::draw(const RunConfig& config, int iteration,
                                                   std::span<const int> fresh_groups, int first_group) {
  const Philox random{config.seed, RandomStream::replay};
  const double per_fresh = config.replay.share / (1 - config.replay.share);
  std::vector<const ReplayGroup*> drawn;
  for (std::size_t environment = 0; environment < fresh_groups.size(); ++environment) {
    std::vector<ReplayGroup*> left;
    for (ReplayGroup& group : groups_)
      if (group.episodes.front().spec.environment == static_cast<int>(environment)) left.push_back(&group);
    const auto count =
        std::min(left.size(), static_cast<std::size_t>(std::floor(per_fresh * fresh_groups[environment] + kRounding)));
    for (std::size_t i = 0; i < count; ++i) {
      const auto bits = random(static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(environment),
                               static_cast<std::uint32_t>(i), 0)[0];
      std::swap(left[i], left[i + bits % (left.size() - i)]);
      for (Episode& episode : left[i]->episodes) episode.spec.group = first_group + static_cast<int>(drawn.size());
      drawn.push_back(left[i]);
    }
  }
  return drawn;
}

void ReplayBuffer::add(int iteration, std::vector<ReplayGroup> groups, const ReplayConfig& config) {
  std::ranges::move(groups, std::back_inserter(groups_));
  std::erase_if(groups_, [&](const ReplayGroup& group) { return iteration + 1 - group.iteration > config.iterations; });
}

std::string ReplayBuffer::serialize() const {
  json groups = json::array();
  for (const ReplayGroup& group : groups_) {
    json episodes = json::array();
    for (const Episode& episode : group.episodes) {
      json turns = json::array();
      for (const Turn& turn : episode.turns) turns.push_back(buffered_turn(turn));
      episodes.push_back({{"score", episode.score}, {"turns", std::move(turns)}});
    }
    groups.push_back({{"iteration", group.iteration},
                      {"environment", group.episodes.front().spec.environment},
                      {"episodes", std::move(episodes)}});
  }
  std::string text;
  json::to_cbor(groups, text);
  return text;
}

ReplayBuffer ReplayBuffer::deserialize(std::string_view text) {
  ReplayBuffer buffer;
  for (const json& stored : json::from_cbor(text)) {
    ReplayGroup& group = buffer.groups_.emplace_back();
    group.iteration = stored.at("iteration");
    for (const json& own : stored.at("episodes")) {
      Episode& episode = group.episodes.emplace_back();
      episode.spec = {stored.at("environment"), 0, static_cast<int>(group.episodes.size()) - 1, 0, {}};
      episode.score = own.at("score");
      for (const json& turn : own.at("turns")) episode.turns.push_back(turn_from(turn));
    }
  }
  return buffer;
}

}  // namespace starpo
