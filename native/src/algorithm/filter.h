#pragma once

#include <span>
#include <string>
#include <vector>

#include "fields/field_visitor.h"

namespace starpo {

enum class FilterStrategy { none, fraction, top_p };

struct FilterConfig {
  FilterStrategy strategy = FilterStrategy::none;
  double keep = 0;
};
void describe(FieldVisitor&, FilterConfig&);

// Raw scores of the episodes that started from one initial state.
struct ScoredGroup {
  int environment = 0;
  std::vector<double> scores;
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
// scales differ.
//   fraction: the floor(keep * groups) groups with the highest reward std, at least one. Ties go to the earlier group;
//             groups with zero reward std only fill the quota.
//   top_p:    groups by decreasing reward std until their sum reaches keep * total (RAGEN-2), at least one, but never
//             a group with zero reward std.
// Groups of one episode are all kept, with a warning.
FilterResult filter_groups(std::span<const ScoredGroup> groups, const FilterConfig&);

// Returns the maximum number of groups that the filter can keep for an environment. group_size: episodes per group.
int max_kept_groups(const FilterConfig&, int groups, int group_size);

}  // namespace starpo
