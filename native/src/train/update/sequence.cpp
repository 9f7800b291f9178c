#include "train/update/sequence.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace starpo {
namespace {

Sequence make_sequence(const Episode& episode, std::span<const Turn> turns) {
  Sequence sequence;
  sequence.episode = &episode;
  sequence.turns = turns;
  std::int32_t position = 0;
  for (const Turn& turn : turns) {
    position += static_cast<std::int32_t>(turn.context_ids.size());
    sequence.turn_lengths.push_back(static_cast<int>(turn.ids.size()));
    for (const float logprob : turn.logprobs) {
      sequence.targets.push_back(position++);
      sequence.rollout_logprobs.push_back(logprob);
    }
  }
  return sequence;
}

}  // namespace

int Sequence::tokens() const {
  std::size_t sum = 0;
  for (const Turn& turn : turns) sum += turn.context_ids.size() + turn.ids.size();
  return static_cast<int>(sum);
}

int Sequence::first_turn() const { return static_cast<int>(turns.data() - episode->turns.data()); }

std::vector<Sequence> make_sequences(const Episode& episode) {
  const std::span<const Turn> turns = episode.turns;
  std::vector<Sequence> sequences;
  for (std::size_t first = 0, end; first < turns.size(); first = end) {
    for (end = first + 1; end < turns.size() && !turns[end].begins_context;) ++end;
    sequences.push_back(make_sequence(episode, turns.subspan(first, end - first)));
  }
  return sequences;
}

std::vector<Sequence> sequences_of_some_episodes(std::span<const Sequence> sequences, std::size_t count) {
  const auto episodes = sequences_by_episode(sequences);
  count = std::min(count, episodes.size());
  std::vector<Sequence> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    const auto own = episodes[i * episodes.size() / count];
    chosen.insert(chosen.end(), own.begin(), own.end());
  }
  return chosen;
}

std::vector<std::span<Sequence>> split_into_mini_batches(std::span<Sequence> sequences, int episodes) {
  std::vector<std::span<Sequence>> batches;
  int count = 0;
  for (const auto own : sequences_by_episode(sequences)) {
    if (count++ % episodes == 0)
      batches.push_back(own);
    else
      batches.back() = {batches.back().data(), batches.back().size() + own.size()};
  }
  return batches;
}

std::vector<bool> reasoning_tokens(const Sequence& sequence) {
  std::vector<bool> reasoning;
  for (const Turn& turn : sequence.turns)
    for (int i = 0; i < static_cast<int>(turn.ids.size()); ++i) reasoning.push_back(i < turn.think_tokens);
  return reasoning;
}

void mix_environments(std::vector<Sequence>& sequences) {
  struct Group {
    std::size_t first, count;
    std::pair<int, bool> kind;  // environment, and whether it is replayed
    std::int64_t index;         // within the kind
  };
  std::vector<Group> groups;
  std::map<std::pair<int, bool>, std::int64_t> group_counts;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const EpisodeSpec& spec = sequences[i].episode->spec;
    const std::pair kind{spec.environment, sequences[i].staleness > 0};
    if (i == 0 || spec.group != sequences[i - 1].episode->spec.group)
      groups.push_back({i, 0, kind, group_counts[kind]++});
    ++groups.back().count;
  }
  // Sort group j of n by position (2j + 1) / 2n.
  std::ranges::stable_sort(groups, [&](const Group& a, const Group& b) {
    return (2 * a.index + 1) * group_counts[b.kind] < (2 * b.index + 1) * group_counts[a.kind];
  });
  std::vector<Sequence> mixed;
  for (const Group& group : groups)
    std::move(sequences.begin() + static_cast<std::ptrdiff_t>(group.first),
              sequences.begin() + static_cast<std::ptrdiff_t>(group.first + group.count), std::back_inserter(mixed));
  sequences = std::move(mixed);
}

std::vector<MicroBatch> split_into_micro_batches(std::span<const Sequence> sequences, int tokens) {
  std::vector<MicroBatch> batches;
  int batch_tokens = 0;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const int own = sequences[i].tokens();
    if (batches.empty() || batch_tokens + own > tokens) {
      batches.push_back({static_cast<int>(i), 0});
      batch_tokens = 0;
    }
    batch_tokens += own;
    ++batches.back().count;
  }
  return batches;
}

PackedBatch pack(std::span<const Sequence> sequences) {
  PackedBatch batch{{}, {0}, {}};
  for (const Sequence& sequence : sequences) {
    const auto start = static_cast<std::int32_t>(batch.tokens.size());
    for (const Turn& turn : sequence.turns) {
      batch.tokens.insert(batch.tokens.end(), turn.context_ids.begin(), turn.context_ids.end());
      batch.tokens.insert(batch.tokens.end(), turn.ids.begin(), turn.ids.end());
    }
    for (const std::int32_t target : sequence.targets) batch.targets.push_back(start + target);
    batch.sequence_starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
  }
  return batch;
}

}  // namespace starpo
