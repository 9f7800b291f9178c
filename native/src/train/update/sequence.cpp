#include "train/update/sequence.h"

namespace starpo {

Sequence make_sequence(const Episode& episode) {
  Sequence sequence;
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
