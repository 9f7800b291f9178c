#include "engine/cuda/kernels/gemm.h"

#include <algorithm>

#include "engine/cuda/kernels/gemm_plans.h"

namespace starpo::cuda {
namespace {

constexpr int kStep = 64;  // the longest step along k of any tile
constexpr int kMaxSplit = 16;

long ceil_divide(long a, long b) { return (a + b - 1) / b; }

int max_split(int m, int n, bool exact, std::size_t partials) {
  const std::size_t elements = static_cast<std::size_t>(m) * static_cast<std::size_t>(n + n % 2);
  return exact ? 1 : static_cast<int>(std::clamp<std::size_t>(partials / elements, 1, kMaxSplit));
}

// Returns the estimated time of a product in nanoseconds.
double estimated_time(const GemmPlan& plan, int m, int n, int k, int multiprocessors) {
  constexpr GemmCosts costs;
  const TileSize size = tile_size(plan.tile);
  const long length = plan.split == 1 ? k : split_length(k, plan.split);
  const long blocks = ceil_divide(m, size.m) * ceil_divide(n, size.n) * ceil_divide(k, length);
  const double bytes = 2.0 * (size.m + size.n) * static_cast<double>(length);
  const double products = static_cast<double>(size.m) * size.n * static_cast<double>(length);
  const double busy = std::max(bytes / costs.bytes_per_nanosecond, products / costs.products_per_nanosecond(plan.tile));
  const double waiting = costs.nanoseconds_per_step * static_cast<double>(ceil_divide(length, kStep));
  const double time = std::max(
      busy * static_cast<double>(ceil_divide(blocks, multiprocessors)),
      waiting * static_cast<double>(ceil_divide(blocks, static_cast<long>(costs.resident_blocks) * multiprocessors)));
  if (plan.split == 1) return time;
  return time + costs.split_overhead + static_cast<double>(m) * n * plan.split / costs.partials_per_nanosecond;
}

template <typename T, typename Out>
void run_best_plan(Stream& stream, GemmLayout layout, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace) {
  const std::size_t partials = workspace.partials ? workspace.size : 0;
  gemm_planned(stream, layout, gemm,
               plan_gemm(layout, gemm.m, gemm.n, gemm.k, gemm.exact, partials, workspace.multiprocessors), workspace);
}

}  // namespace

const char* tile_name(GemmTile tile) {
  switch (tile) {
    case GemmTile::large: return "large";
    case GemmTile::medium: return "medium";
    case GemmTile::narrow: return "narrow";
    case GemmTile::small: return "small";
    case GemmTile::row: return "row";
  }
  return "";
}

TileSize tile_size(GemmTile tile) {
  switch (tile) {
    case GemmTile::large: return {128, 128};
    case GemmTile::medium: return {64, 64};
    case GemmTile::narrow: return {64, 32};
    case GemmTile::small: return {32, 32};
    case GemmTile::row: return {16, 64};
  }
  return {};
}

bool has_tile(GemmLayout layout, GemmTile tile) {
  return layout == GemmLayout::nt || tile == GemmTile::large || tile == GemmTile::medium;
}

int split_length(int k, int split) { return static_cast<int>(ceil_divide(ceil_divide(k, split), kStep)) * kStep; }

std::vector<GemmPlan> possible_plans(GemmLayout layout, int m, int n, int k, bool exact, std::size_t partials) {
  std::vector<GemmPlan> plans;
  for (const GemmTile tile : kGemmTiles) {
    if (!has_tile(layout, tile)) continue;
    const int most = max_split(m, n, exact, partials);
    for (int split = 1; split <= most; ++split)
      // Lengths are rounded up, so this split may need fewer blocks: that plan was already considered.
      if (split == 1 || ceil_divide(k, split_length(k, split)) == split) plans.push_back({tile, split});
  }
  return plans;
}

GemmPlan plan_gemm(GemmLayout layout, int m, int n, int k, bool exact, std::size_t partials, int multiprocessors) {
  if (const MeasuredPlan* const measured =
          find_plan(measured_plans(), layout, m, n, k, exact, max_split(m, n, exact, partials), multiprocessors))
    return measured->plan;
  GemmPlan best{GemmTile::medium};
  double best_time = estimated_time(best, m, n, k, multiprocessors);
  for (const GemmPlan& plan : possible_plans(layout, m, n, k, exact, partials))
    if (const double time = estimated_time(plan, m, n, k, multiprocessors); time < best_time)
      best = plan, best_time = time;
  return best;
}

template <typename T, typename Out>
void gemm_nt(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace) {
  run_best_plan(stream, GemmLayout::nt, gemm, workspace);
}

template <typename T, typename Out>
void gemm_nn(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace) {
  run_best_plan(stream, GemmLayout::nn, gemm, workspace);
}

template <typename T, typename Out>
void gemm_tn(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace) {
  run_best_plan(stream, GemmLayout::tn, gemm, workspace);
}

template <typename T>
void gemm_swiglu(Stream& stream, const Gemm<T>& gemm, const GemmWorkspace& workspace) {
  // The product has n columns of gate and n of up.
  gemm_swiglu_planned(stream, gemm,
                      plan_gemm(GemmLayout::nt, gemm.m, 2 * gemm.n, gemm.k, true, 0, workspace.multiprocessors));
}

#define STARPO_INSTANTIATE(T, Out)                                           \
  template void gemm_nt(Stream&, const Gemm<T, Out>&, const GemmWorkspace&); \
  template void gemm_nn(Stream&, const Gemm<T, Out>&, const GemmWorkspace&); \
  template void gemm_tn(Stream&, const Gemm<T, Out>&, const GemmWorkspace&)
STARPO_INSTANTIATE(Bf16, Bf16);
STARPO_INSTANTIATE(Bf16, float);
STARPO_INSTANTIATE(float, float);
#undef STARPO_INSTANTIATE
template void gemm_swiglu(Stream&, const Gemm<Bf16>&, const GemmWorkspace&);
template void gemm_swiglu(Stream&, const Gemm<float>&, const GemmWorkspace&);

}  // namespace starpo::cuda
