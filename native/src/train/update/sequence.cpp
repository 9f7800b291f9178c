#include "train/update/sequence.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace starpo {

Sequence make_sequence(const Episode& episode) {
  Sequence sequence;
  sequence.environment = episode.spec.environment;
  sequence.group = episode.spec.group;
  for (const Turn& turn : episode.turns) {
    sequence.tokens.insert(sequence.tokens.end(), turn.context_ids.begin(), turn.context_ids.end());
    for (std::size_t i = 0; i < turn.ids.size(); ++i) {
      sequence.targets.push_back(static_cast<std::int32_t>(sequence.tokens.size()));
      sequence.tokens.push_back(turn.ids[i]);
      sequence.rollout_logprobs.push_back(turn.logprobs[i]);
    }
  }
  return sequence;
}

void mix_environments(std::vector<Sequence>& sequences) {
  struct Group {
    std::size_t first, count;
    int environment;
    std::int64_t place;  // among its environment's groups
  };
  std::vector<Group> groups;
  std::map<int, std::int64_t> of_environment;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& sequence = sequences[i];
    if (i == 0 || sequence.group != sequences[i - 1].group) groups.push_back({i, 0, sequence.environment, of_environment[sequence.environment]++});
    ++groups.back().count;
  }
  // Group j of n stands at (2j + 1) / 2n of the way.
  std::ranges::stable_sort(groups, [&](const Group& a, const Group& b) {
    return (2 * a.place + 1) * of_environment[b.environment] < (2 * b.place + 1) * of_environment[a.environment];
  });
  std::vector<Sequence> mixed;
  for (const Group& group : groups) std::move(sequences.begin() + static_cast<std::ptrdiff_t>(group.first), sequences.begin() + static_cast<std::ptrdiff_t>(group.first + group.count), std::back_inserter(mixed));
  sequences = std::move(mixed);
}

std::vector<MicroBatch> pack(std::span<const Sequence> sequences, int tokens) {
  std::vector<MicroBatch> batches;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& sequence = sequences[i];
    if (batches.empty() || batches.back().batch.tokens.size() + sequence.tokens.size() > static_cast<std::size_t>(tokens))
      batches.push_back({PackedBatch{{}, {0}, {}}, static_cast<int>(i), 0});
    PackedBatch& batch = batches.back().batch;
    const auto start = static_cast<std::int32_t>(batch.tokens.size());
    batch.tokens.insert(batch.tokens.end(), sequence.tokens.begin(), sequence.tokens.end());
    for (std::int32_t target : sequence.targets) batch.targets.push_back(start + target);
    batch.sequence_starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
    ++batches.back().count;
  }
  return batches;
}

}  // namespace starpo
