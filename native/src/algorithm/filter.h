#pragma once

#include <span>
#include <string>
#include <vector>

namespace starpo {

class FieldVisitor;

enum class FilterStrategy { none, fraction, top_k, top_p, min_p, softmax };

// What groups are ranked by. reward_std: standard deviation of scores. entropy, length: mean over the group's episodes
// of their mean token entropy, or of their trained tokens.
enum class FilterScore { reward_std, entropy, length };

enum class FilterOrder { largest, smallest };

struct FilterConfig {
  FilterStrategy strategy = FilterStrategy::none;
  double keep = 0;
  int count = 1;
  FilterScore score = FilterScore::reward_std;
  FilterOrder order = FilterOrder::largest;
};
void describe(FieldVisitor&, FilterConfig&);

// Episodes that started from one initial state.
struct ScoredGroup {
  int environment = 0;
  std::vector<double> scores;             // raw scores
  std::vector<double> measurements = {};  // with FilterScore entropy or length: that of each episode
};

struct FilterWarning {
  int environment;
  std::string text;
};

struct FilterResult {
  std::vector<bool> kept;           // [groups]
  std::vector<double> reward_stds;  // [groups], of raw scores
  std::vector<FilterWarning> warnings;
};

// Applies StarPO-S's filter (RAGEN, arXiv 2504.20073, section 3.3): keeps the initial states with the highest reward
// std, since a group with zero reward std has no learning signal. Filters each environment separately, since reward
// scales differ. Ranks groups by FilterScore, in either order. Ties go to the earlier group; groups with score 0 rank
// last.
//   fraction: the first floor(keep * groups) groups, at least one. Groups with score 0 only fill the quota.
//   top_k:    the first `count` groups. Groups with score 0 only fill the quota.
//   top_p:    groups until the sum of their scores reaches keep * total (RAGEN-2), at least one
//   min_p:    groups with at least keep times the largest score; if the order is `smallest`, with at most the smallest
//             score divided by keep
//   softmax:  groups until the sum of their softmax probabilities reaches keep, at least one. `smallest` negates the
//             scores.
// top_p, min_p and softmax never keep a group with score 0. Groups of one episode are all kept if they are ranked by
// reward std, with a warning.
FilterResult filter_groups(std::span<const ScoredGroup> groups, const FilterConfig&);

// Groups of an iteration's rounds for the update.
struct RoundGroups {
  std::vector<bool> chosen;  // [groups]
  bool complete = false;     // no further round is needed
};

// Chooses the groups for the update from all rounds (dynamic sampling, DAPO, arXiv 2503.14476): in each environment, as
// many as it has in one round, those with reward std first, each in order of play. So groups of later rounds replace
// those without a signal. Complete: enough groups have reward std in every environment: all, or the number that the
// filter keeps by reward std. groups: with their raw scores. per_round: groups per environment in a round.
RoundGroups choose_from_rounds(std::span<const ScoredGroup> groups, std::span<const int> per_round,
                               const FilterConfig&);

// Returns the maximum number of groups that the filter can keep for an environment. group_size: episodes per group.
int max_kept_groups(const FilterConfig&, int groups, int group_size);

}  // namespace starpo
