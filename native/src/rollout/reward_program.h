#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "env/process/program_pool.h"
#include "rollout/episode.h"
#include "rollout/settings.h"

namespace starpo {

// Begins the reason of an episode that the program failed to score.
inline constexpr std::string_view kRewardProgramFailure = "reward program: ";

// A program of the user that reads finished episodes and adds reward terms (docs/formats/reward-program.md). Its
// processes live as long as this object.
class RewardProgram {
 public:
  explicit RewardProgram(const RewardProgramConfig&);

 private:
  friend class EpisodeScoring;
  ProgramPool pool_;
  double weight_;
};

// The episodes of one rollout that a reward program scores.
class EpisodeScoring {
 public:
  EpisodeScoring(RewardProgram&, std::size_t episodes);
  ~EpisodeScoring();  // abandons episodes without an answer
  EpisodeScoring(const EpisodeScoring&) = delete;
  EpisodeScoring& operator=(const EpisodeScoring&) = delete;

  // Errors: those of ProgramPool::begin.
  void send(std::size_t index, const Episode&, const EnvironmentConfig&);
  // Adds the terms of answers to their episodes, and returns the indices of the episodes that are done. An episode that
  // the program fails to score is sent again, and is void if that fails, too; its `failures` have the reasons. Blocks
  // at most for the limit, until an answer arrives. Errors: those of ProgramPool::wait.
  std::vector<std::size_t> receive(std::span<Episode>, std::chrono::milliseconds limit);

 private:
  void add_terms(Episode&, const nlohmann::json& answer) const;

  RewardProgram& program_;
  std::deque<ProgramEpisode> requests_;  // [episodes]; the pool points to them
  std::vector<std::size_t> waiting_;
  std::vector<bool> failed_;  // [episodes] once
};

}  // namespace starpo
