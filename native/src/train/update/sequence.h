#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/network_pass.h"
#include "rollout/episode.h"

namespace starpo {

// One sample of the update: turns of an episode that share a context, with their trained tokens and their values. Token
// ids stay in the episode. Without rollout.context_turns, an episode is one sample.
struct Sequence {
  const Episode* episode = nullptr;     // must outlive this object
  std::span<const Turn> turns = {};     // of the episode
  int staleness = 0;                    // iterations since it was sampled; above 0 if it is replayed
  std::vector<std::int32_t> targets;    // ascending indices of trained tokens among all tokens of the turns
  std::vector<int> turn_lengths;        // trained tokens of each turn
  std::vector<float> rollout_logprobs;  // [targets], as are all below
  std::vector<float> old_logprobs;      // with corrections; of the policy before the update
  std::vector<double> advantages;
  std::vector<float> reference_logprobs;  // with a KL term
  std::vector<double> imitation;          // weights of the cross-entropy; empty: all 0
  std::vector<float> values;              // with a critic; before the update
  std::vector<double> value_targets;      // with a critic
  std::vector<bool> value_mask;           // with a critic; whether the value of a token is trained

  int tokens() const;      // read and sampled
  int first_turn() const;  // its index within the episode
};

// Returns the samples of an episode, in order.
std::vector<Sequence> make_sequences(const Episode&);

// Splits sequences, ordered by episode, into those of each episode.
template <class S>
std::vector<std::span<S>> sequences_by_episode(std::span<S> sequences) {
  std::vector<std::span<S>> result;
  for (std::size_t first = 0, end; first < sequences.size(); first = end) {
    for (end = first + 1; end < sequences.size() && sequences[end].episode == sequences[first].episode;) ++end;
    result.push_back(sequences.subspan(first, end - first));
  }
  return result;
}

// Returns all sequences of at most `count` episodes, evenly spaced.
std::vector<Sequence> sequences_of_some_episodes(std::span<const Sequence>, std::size_t count);

// Splits sequences, in order, into mini-batches of `episodes` episodes; the last may have fewer.
std::vector<std::span<Sequence>> split_into_mini_batches(std::span<Sequence>, int episodes);

// Returns for each trained token whether it was sampled before `</think>`.
std::vector<bool> reasoning_tokens(const Sequence&);

// Interleaves the groups of all environments evenly, so that every mini-batch has a share of each environment, and the
// same for replayed groups. Otherwise keeps the order.
void mix_environments(std::vector<Sequence>&);

// Consecutive sequences of one forward and backward pass: [first, first + count).
struct MicroBatch {
  int first;
  int count;
};

// Splits sequences, in order, into micro-batches of at most `tokens` tokens (at least one sequence).
std::vector<MicroBatch> split_into_micro_batches(std::span<const Sequence>, int tokens);

// Concatenates the ids of sequences for an engine.
PackedBatch pack(std::span<const Sequence>);

}  // namespace starpo
