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

struct FilterResult {
  std::vector<bool> kept;      // [groups]
  std::vector<double> spread;  // [groups] unbiased standard deviation of the raw scores
  std::string warning;         // empty when there is nothing to say
};

// StarPO-S's filter (RAGEN, arXiv 2504.20073, section 3.3): keep the initial states whose episodes disagree most, since a group without spread
// carries no learning signal.
//   fraction: the floor(keep * groups) groups of largest spread, at least one. Ties go to the earlier group; groups without spread come last and only
//             fill the quota.
//   top_p:    groups in order of falling spread until their sum reaches keep * total (RAGEN-2), at least one; groups without spread never.
// scores: [groups * group_size], group by group. With group_size 1 nothing is filtered and a warning is given.
FilterResult filter_groups(std::span<const double> scores, int group_size, FilterStrategy, double keep);

}  // namespace starpo
