#include <doctest/doctest.h>

#include <set>

#include "rollout/rollout.h"
#include "tiny_policy.h"
#include "train/context/levels.h"
#include "train/update/sequence.h"

using namespace starpo;
using namespace starpo::test;

namespace {

std::vector<Episode> roll_out(const RunConfig& config, const std::filesystem::path& folder, int slots,
                              int first_number = 0) {
  auto state = tiny_state(config, folder);
  const auto generator = state->replica.policy->make_generator(slots, config.rollout.context);
  const auto specs = training_episodes(config, 1);
  RolloutRequest request{specs,
                         state->playground.rules,
                         state->playground.prototypes,
                         {1, 1, 0, 0},
                         {config.seed, RandomStream::train_sampling},
                         1,
                         {},
                         nullptr,
                         first_number};
  return run_rollout(*generator, request);
}

void check_equal(const std::vector<Episode>& a, const std::vector<Episode>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i].turns.size() == b[i].turns.size());
    CHECK(a[i].score == b[i].score);
    for (std::size_t t = 0; t < a[i].turns.size(); ++t) {
      CHECK(a[i].turns[t].ids == b[i].turns[t].ids);
      CHECK(a[i].turns[t].logprobs == b[i].turns[t].logprobs);
      CHECK(a[i].turns[t].entropies == b[i].turns[t].entropies);
      CHECK(a[i].turns[t].context_ids == b[i].turns[t].context_ids);
    }
  }
}

}  // namespace

TEST_CASE("slots and threads do not change any bit of a rollout") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  const auto reference = roll_out(config, folder.path(), 128);
  check_equal(roll_out(config, folder.path(), 7), reference);
  check_equal(roll_out(config, folder.path(), 1), reference);
  for (int threads : {2, 3}) {
    config.threads = threads;
    check_equal(roll_out(config, folder.path(), 128), reference);
  }
}

TEST_CASE("rollouts with different first episode numbers sample different tokens, even on the same levels") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  const RunConfig config = small_run_config();
  const auto first = roll_out(config, folder.path(), 8), later = roll_out(config, folder.path(), 8, 12);
  REQUIRE(first.size() == 12);
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(later[i].number == static_cast<int>(i) + 12);
    CHECK(later[i].turns[0].context_ids == first[i].turns[0].context_ids);
    CHECK(later[i].turns[0].ids != first[i].turns[0].ids);
  }
}

TEST_CASE("rollouts of a group share the prompt and draw independently, and another seed draws differently") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  const auto episodes = roll_out(config, folder.path(), 16);
  std::set<std::vector<std::int32_t>> first_responses;
  for (int i = 0; i < 4; ++i) {
    CHECK(episodes[i].turns[0].context_ids == episodes[0].turns[0].context_ids);
    first_responses.insert(episodes[i].turns[0].ids);
  }
  CHECK(first_responses.size() > 1);
  CHECK(episodes[4].turns[0].context_ids != episodes[0].turns[0].context_ids);
  config.seed += 1;
  CHECK(roll_out(config, folder.path(), 16)[0].turns[0].ids != episodes[0].turns[0].ids);
}

TEST_CASE("the update's log-probabilities equal the rollout's bit for bit") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  const RunConfig config = small_run_config();
  const auto episodes = roll_out(config, folder.path(), 5);
  auto state = tiny_state(config, folder.path());
  const auto pass = state->replica.policy->make_pass();
  std::vector<Sequence> sequences;
  for (const Episode& episode : episodes) std::ranges::move(make_sequences(episode), std::back_inserter(sequences));
  for (const MicroBatch& micro : split_into_micro_batches(sequences, 400)) {
    const PackedBatch batch = pack(std::span(sequences).subspan(micro.first, micro.count));
    CHECK((batch.tokens.size() <= 400 || micro.count == 1));
    std::vector<float> logprobs(batch.targets.size()), entropies(logprobs.size()), expected;
    pass->forward(batch, 1, logprobs, entropies);
    for (int i = micro.first; i < micro.first + micro.count; ++i)
      expected.insert(expected.end(), sequences[i].rollout_logprobs.begin(), sequences[i].rollout_logprobs.end());
    CHECK(logprobs == expected);
  }
}

TEST_CASE("a truncated turn is closed in the context, and an episode ends before the context would overflow") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.rollout.max_response_tokens = 2;  // a random policy rarely ends a turn within two tokens
  const auto episodes = roll_out(config, folder.path(), 16);
  const auto state = tiny_state(config, folder.path());
  int cut = 0;
  for (const Episode& episode : episodes) {
    CHECK(episode.ended == EndReason::max_turns);
    CHECK(episode.turns.size() == 5);
    CHECK(episode.score == doctest::Approx(5 * config.reward.format_penalty));
    for (std::size_t t = 0; t + 1 < episode.turns.size(); ++t) {
      if (!episode.turns[t].truncated) continue;
      ++cut;
      CHECK(episode.turns[t + 1].context_ids.front() == state->playground.chat.turn_end());
    }
  }
  CHECK(cut > 0);

  const int prompt = static_cast<int>(episodes[0].turns[0].context_ids.size());
  config.rollout.context = prompt + 2 + 10;
  for (const Episode& episode : roll_out(config, folder.path(), 16)) {
    CHECK(episode.ended == EndReason::context);
    CHECK(episode.turns.size() == 1);
    CHECK(prompt + episode.sampled_tokens() <= config.rollout.context);
  }
}
