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

// The raw scores of the episodes that began in one initial state.
struct ScoredGroup {
  int environment = 0;
  std::vector<double> scores;
};

struct FilterWarning {
  int environment;
  std::string text;
};

struct FilterResult {
  std::vector<bool> kept;      // [groups]
  std::vector<double> spread;  // [groups] score_spread of the raw scores
  std::vector<FilterWarning> warnings;
};

// StarPO-S's filter (RAGEN, arXiv 2504.20073, section 3.3): keep the initial states whose episodes disagree most, since
// a group without spread carries no learning signal. Each environment's groups are filtered among themselves: spreads
// of different rewards don't compare.
//   fraction: the floor(keep * groups) groups of largest spread, at least one. Ties go to the earlier group; groups
//   without spread come last and only
//             fill the quota.
//   top_p:    groups in order of falling spread until their sum reaches keep * total (RAGEN-2), at least one; groups
//   without spread never.
// Groups of one episode are all kept, with a warning.
FilterResult filter_groups(std::span<const ScoredGroup> groups, const FilterConfig&);

// The most that the filter can keep of an environment's groups, of group_size episodes each.
int most_kept_groups(const FilterConfig&, int groups, int group_size);

}  // namespace starpo
