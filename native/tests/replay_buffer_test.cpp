#include <doctest/doctest.h>

#include <map>
#include <set>

#include "train/update/replay_buffer.h"

using namespace starpo;

namespace {

// Returns groups of an iteration with one episode each, whose token is 100 * iteration + its number.
std::vector<ReplayGroup> groups_of_iteration(int iteration, std::initializer_list<int> environments) {
  std::vector<ReplayGroup> groups;
  for (const int environment : environments) {
    ReplayGroup& group = groups.emplace_back(iteration);
    Episode& episode = group.episodes.emplace_back();
    episode.spec = {environment, 0, 0, 0, {}};
    episode.score = 0.1 * iteration;
    Turn& turn = episode.turns.emplace_back();
    turn.state = "\xff state";
    turn.ids = {100 * iteration + static_cast<int>(groups.size())};
    turn.context_ids = {1, 2, 3};
    turn.logprobs = {-0.1f * static_cast<float>(iteration)};
    turn.terms = {{"environment", 0.3}};
    turn.score = 0.3;
    turn.think_tokens = 1;
  }
  return groups;
}

std::vector<int> tokens_of(const std::vector<const ReplayGroup*>& groups) {
  std::vector<int> tokens;
  for (const ReplayGroup* group : groups) tokens.push_back(group->episodes.front().turns.front().ids.front());
  return tokens;
}

}  // namespace

TEST_CASE("a replay draws the share of each environment without repetition, and depends on seed and iteration alone") {
  RunConfig config;
  config.replay = {8, 0.75};
  ReplayBuffer buffer;
  for (int iteration = 1; iteration <= 4; ++iteration)
    buffer.add(iteration, groups_of_iteration(iteration, {0, 0, 0, 1}), config.replay);
  const int fresh[] = {2, 3};
  const auto drawn = buffer.draw(config, 5, fresh, 10);
  // Three replayed groups per fresh one, of which environment 1 has only four.
  REQUIRE(drawn.size() == 10);
  std::map<int, int> by_environment;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    CHECK(drawn[i]->episodes.front().spec.group == 10 + static_cast<int>(i));
    ++by_environment[drawn[i]->episodes.front().spec.environment];
  }
  CHECK(by_environment == std::map<int, int>{{0, 6}, {1, 4}});
  const auto tokens = tokens_of(drawn);
  CHECK(std::set<int>(tokens.begin(), tokens.end()).size() == 10);
  CHECK(tokens_of(buffer.draw(config, 5, fresh, 0)) == tokens);
  CHECK(tokens_of(buffer.draw(config, 6, fresh, 0)) != tokens);
  config.seed = 1;
  CHECK(tokens_of(buffer.draw(config, 5, fresh, 0)) != tokens);
  config.replay.share = 0.5;
  CHECK(buffer.draw(config, 5, fresh, 0).size() == 5);
}

TEST_CASE("every group of the buffer is drawn equally often") {
  RunConfig config;
  config.replay = {1, 0.5};
  ReplayBuffer buffer;
  buffer.add(1, groups_of_iteration(1, {0, 0, 0, 0}), config.replay);
  const int fresh[] = {1};
  std::map<int, int> counts;
  for (int iteration = 2; iteration < 4002; ++iteration)
    ++counts[tokens_of(buffer.draw(config, iteration, fresh, 0))[0]];
  REQUIRE(counts.size() == 4);
  for (const auto& [token, count] : counts) CHECK(std::abs(count - 1000) < 110);  // four standard deviations
}

TEST_CASE("groups above the staleness limit leave the buffer") {
  const ReplayConfig replay{2, 0.5};
  ReplayBuffer buffer;
  for (int iteration = 1; iteration <= 5; ++iteration)
    buffer.add(iteration, groups_of_iteration(iteration, {0}), replay);
  RunConfig config;
  config.replay = {2, 0.9};
  const int fresh[] = {1};
  const auto tokens = tokens_of(buffer.draw(config, 6, fresh, 0));
  CHECK(std::set<int>(tokens.begin(), tokens.end()) == std::set{401, 501});
  buffer.add(6, {}, replay);
  buffer.add(7, {}, replay);
  CHECK(buffer.size() == 0);
}

TEST_CASE("a stored buffer is restored bit-identically") {
  RunConfig config;
  config.replay = {3, 0.5};
  ReplayBuffer buffer;
  buffer.add(1, groups_of_iteration(1, {0, 1}), config.replay);
  buffer.add(2, groups_of_iteration(2, {0}), config.replay);
  auto copy = ReplayBuffer::deserialize(buffer.serialize());
  CHECK(copy.serialize() == buffer.serialize());
  const int fresh[] = {2, 1};
  const auto drawn = copy.draw(config, 3, fresh, 0), original = buffer.draw(config, 3, fresh, 0);
  REQUIRE(tokens_of(drawn) == tokens_of(original));
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const Episode &own = drawn[i]->episodes[0], &expected = original[i]->episodes[0];
    CHECK(drawn[i]->iteration == original[i]->iteration);
    CHECK(own.spec.environment == expected.spec.environment);
    CHECK(own.score == expected.score);
    const Turn &turn = own.turns[0], &stored = expected.turns[0];
    CHECK(turn.state == stored.state);
    CHECK(turn.context_ids == stored.context_ids);
    CHECK(turn.logprobs == stored.logprobs);
    CHECK(turn.terms[0].name == "environment");
    CHECK(turn.terms[0].value == 0.3);
    CHECK(turn.score == 0.3);
    CHECK(turn.think_tokens == 1);
  }
}
