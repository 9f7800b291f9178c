#include "engine/cuda/kernels/gemm_plans.h"

#include <vector>

namespace starpo::cuda {

std::span<const MeasuredPlan> measured_plans() {
  using enum GemmLayout;
  using enum GemmTile;
  static const std::vector<MeasuredPlan> plans{
#include "engine/cuda/kernels/gemm_plans.inc"
  };
  return plans;
}

double GemmCosts::products_per_nanosecond(GemmTile tile) const {
  switch (tile) {
    case GemmTile::large: return 1500;
    case GemmTile::medium: return 1000;
    case GemmTile::narrow: return 650;
    case GemmTile::small: return 500;
    case GemmTile::row: return 400;
  }
  return 0;
}

const MeasuredPlan* find_plan(std::span<const MeasuredPlan> table, GemmLayout layout, int m, int n, int k, bool exact,
                              int max_split, int multiprocessors) {
  const MeasuredPlan* best = nullptr;
  for (const MeasuredPlan& each : table) {
    const bool same = each.multiprocessors == multiprocessors && each.layout == layout && each.n == n && each.k == k &&
                      each.exact == exact;
    if (same && each.rows >= m && (best == nullptr || each.rows < best->rows)) best = &each;
  }
  return best != nullptr && best->plan.split <= max_split ? best : nullptr;
}

}  // namespace starpo::cuda
