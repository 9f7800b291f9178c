#include "train/metrics/thoughts.h"

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <unordered_map>
#include <vector>

#include "journal/metric_names.h"
#include "train/metrics/average.h"

namespace starpo {
namespace {

constexpr std::size_t shown_characters = 300;
// Each thought, and each group, is held against so many that follow: in larger rollouts that is a sample, since groups
// are of independent levels, and the cost grows no faster than the episodes.
constexpr std::size_t most_compared = 64;

std::string first_characters(const std::string& text, std::size_t count) {
  const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; };
  std::size_t end = 0;
  for (; end < text.size() && count > 0; --count)
    for (++end; end < text.size() && continues(text[end]);) ++end;
  return text.substr(0, end);
}

using Trigram = std::array<int, 3>;  // words by number; no_word where a text has fewer
constexpr int no_word = -1;

// What a thought is compared by.
struct Words {
  Trigram opening;                // the first three
  std::vector<Trigram> trigrams;  // all, sorted, each once; of a text of fewer words the whole text
};

class Vocabulary {
 public:
  Words read(const std::string& text) {
    constexpr auto white_space = " \t\n\r\f\v";
    std::vector<int> words;
    for (std::size_t end = 0, start; (start = text.find_first_not_of(white_space, end)) != std::string::npos;) {
      end = std::min(text.find_first_of(white_space, start), text.size());
      words.push_back(
          numbers_.try_emplace(text.substr(start, end - start), static_cast<int>(numbers_.size())).first->second);
    }
    const auto word = [&](std::size_t at) { return at < words.size() ? words[at] : no_word; };
    Words read{{word(0), word(1), word(2)}, {{word(0), word(1), word(2)}}};
    for (std::size_t at = 1; at + 3 <= words.size(); ++at)
      read.trigrams.push_back({words[at], words[at + 1], words[at + 2]});
    std::ranges::sort(read.trigrams);
    const auto repeated = std::ranges::unique(read.trigrams);
    read.trigrams.erase(repeated.begin(), repeated.end());
    return read;
  }

 private:
  std::unordered_map<std::string, int> numbers_;
};

// The Jaccard index of two thoughts' trigrams: the share of all of them that both have.
double likeness(const Words& a, const Words& b) {
  std::size_t both = 0;
  auto x = a.trigrams.begin(), y = b.trigrams.begin();
  while (x != a.trigrams.end() && y != b.trigrams.end()) {
    const auto order = *x <=> *y;
    both += order == 0;
    if (order <= 0) ++x;
    if (order >= 0) ++y;
  }
  return static_cast<double>(both) / static_cast<double>(a.trigrams.size() + b.trigrams.size() - both);
}

Average likeness_within(std::span<const Words> thoughts) {
  Average average;
  for (std::size_t a = 0; a < thoughts.size(); ++a)
    for (std::size_t b = a + 1; b < thoughts.size() && b - a <= most_compared; ++b)
      average.add(likeness(thoughts[a], thoughts[b]));
  return average;
}

bool same_board(const Episode& a, const Episode& b) {
  return a.spec.environment == b.spec.environment && a.initial == b.initial;
}

}  // namespace

std::string first_thought(const Episode& episode) {
  return episode.turns.front().think.value_or(episode.turns.front().response);
}

ThoughtTemplate commonest_thought(std::span<const Episode> episodes) {
  std::map<std::string, int> counts;
  for (const Episode& episode : episodes) ++counts[first_thought(episode)];
  const auto commonest = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  return {first_characters(commonest->first, shown_characters),
          static_cast<double>(commonest->second) / static_cast<double>(episodes.size())};
}

void add_thought_metrics(std::span<const Episode> episodes, Metrics& metrics) {
  Vocabulary vocabulary;
  std::vector<Words> thoughts;
  std::map<Trigram, int> openings;
  for (const Episode& episode : episodes)
    ++openings[thoughts.emplace_back(vocabulary.read(first_thought(episode))).opening];

  const auto groups = groups_of(episodes);
  const auto of_group = [&](std::size_t group) {
    return std::span<const Words>(thoughts).subspan(static_cast<std::size_t>(groups[group].data() - episodes.data()),
                                                    groups[group].size());
  };
  Average in_group, across;
  for (std::size_t a = 0; a < groups.size(); ++a) {
    if (const Average within = likeness_within(of_group(a)); within.count > 0)
      in_group.add(within.sum / static_cast<double>(within.count));
    for (std::size_t b = a + 1; b < groups.size() && b - a <= most_compared; ++b) {
      if (same_board(groups[a].front(), groups[b].front())) continue;
      const std::size_t members = std::min(groups[a].size(), groups[b].size());
      for (std::size_t member = 0; member < members; ++member)
        across.add(likeness(of_group(a)[member], of_group(b)[member]));
    }
  }
  set_average(metrics, metric::rollout_thought_likeness_in_group, in_group);
  set_average(metrics, metric::rollout_thought_likeness_across, across);
  if (episodes.empty()) return;
  metrics[std::string(metric::rollout_template_share)] = commonest_thought(episodes).share;
  const int commonest = std::ranges::max(openings | std::views::values);
  metrics[std::string(metric::rollout_common_opening_share)] =
      static_cast<double>(commonest) / static_cast<double>(episodes.size());
}

}  // namespace starpo
