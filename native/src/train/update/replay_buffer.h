#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_config.h"
#include "rollout/episode.h"
#include "train/update/sequence.h"

namespace starpo {

// A group that was trained on in an earlier iteration. Its episodes have only what an update reads: tokens, rollout
// log-probabilities, rewards and state keys.
struct ReplayGroup {
  int iteration = 0;
  std::vector<Episode> episodes;
};

// Returns copies of the groups of sequences, in order. Sequences of an episode are adjacent.
std::vector<ReplayGroup> replay_groups(int iteration, std::span<const Sequence>);

// The groups that iterations can replay: those of the last replay.iterations iterations.
class ReplayBuffer {
 public:
  // Draws groups of every environment at random, without repetition: share / (1 - share) times its fresh groups,
  // rounded down, as far as the buffer has them. Numbers the groups from `first_group` on. The draw depends on seed,
  // iteration and buffer. The groups are valid until the next call of a member that is not const.
  std::vector<const ReplayGroup*> draw(const RunConfig&, int iteration, std::span<const int> fresh_groups,
                                       int first_group);

  // Adds the groups of an iteration, and drops those too old for the next one.
  void add(int iteration, std::vector<ReplayGroup>, const ReplayConfig&);

  std::size_t size() const { return groups_.size(); }

  // The buffer as CBOR (docs/formats/checkpoint.md). deserialize throws nlohmann::json::exception if it is invalid.
  std::string serialize() const;
  static ReplayBuffer deserialize(std::string_view);

 private:
  std::vector<ReplayGroup> groups_;  // oldest first
};

}  // namespace starpo
