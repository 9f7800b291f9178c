#include "rollout/reward_program.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "env/process/messages.h"
#include "rollout/episode_json.h"
#include "rollout/reward_terms.h"

namespace starpo {
namespace {

using json = nlohmann::json;

constexpr int kMaxEpisodesAtOnce = 4096;  // The program chooses with hello.episodes.

// Returns an episode with the keys of rollout files.
json score_request(const Episode& episode, const EnvironmentConfig& environment) {
  json steps = json::array();
  for (const Turn& turn : episode.turns) steps.push_back(turn_json(turn));
  return {{"score",
           {{"environment", environment.label},
            {"type", environment.type},
            {"split", episode.spec.split == Split::train ? "train" : "validation"},
            {"seed", episode.spec.seed},
            {"initial", episode.initial},
            {"reward", episode.score},
            {"success", episode.success},
            {"ended", name_of(episode.ended)},
            {"steps", std::move(steps)}}}};
}

}  // namespace

RewardProgram::RewardProgram(const RewardProgramConfig& config)
    : pool_({config.command, config.directory, config.processes, kMaxEpisodesAtOnce, config.seconds, config.seconds}),
      weight_(config.weight) {}

EpisodeScoring::EpisodeScoring(RewardProgram& program, std::size_t episodes)
    : program_(program), requests_(episodes), failed_(episodes) {}

EpisodeScoring::~EpisodeScoring() {
  for (ProgramEpisode& request : requests_) program_.pool_.close(request);
}

void EpisodeScoring::send(std::size_t index, const Episode& episode, const EnvironmentConfig& environment) {
  program_.pool_.begin(requests_[index], score_request(episode, environment));
  waiting_.push_back(index);
}

std::vector<std::size_t> EpisodeScoring::receive(std::span<Episode> episodes, std::chrono::milliseconds limit) {
  std::vector<std::size_t> done;
  if (waiting_.empty()) return done;
  program_.pool_.wait(limit);
  for (const std::size_t index : std::exchange(waiting_, {})) {
    ProgramEpisode& request = requests_[index];
    Episode& episode = episodes[index];
    try {
      if (!ProgramPool::ready(request)) {
        waiting_.push_back(index);
        continue;
      }
      add_terms(episode, request.answer);
    } catch (const EnvironmentFailure& failure) {
      episode.failures.push_back(std::string(kRewardProgramFailure) + failure.what());
      if (!failed_[index] || failure.is_shared()) {
        failed_[index] = true;
        program_.pool_.begin(request, std::move(request.request));
        waiting_.push_back(index);
        continue;
      }
      episode.make_void();
    }
    program_.pool_.close(request);
    request = {};
    done.push_back(index);
  }
  return done;
}

void EpisodeScoring::add_terms(Episode& episode, const json& answer) const {
  const auto terms = parse_score_answer(answer, episode.turns.size());
  for (const ProgramTerm& term : terms)
    if (is_built_in_term(term.name) ||
        std::ranges::find(episode.terms, term.name, &RewardTerm::name) != episode.terms.end())
      throw EnvironmentFailure("the name of its term " + term.name + " is in use: choose another name");
  for (const ProgramTerm& term : terms)
    for (std::size_t turn = 0; turn < term.by_turn.size(); ++turn)
      episode.add_turn_term(turn, term.name, program_.weight_ * term.by_turn[turn]);
}

}  // namespace starpo
