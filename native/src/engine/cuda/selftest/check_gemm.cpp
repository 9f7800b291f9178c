#include <cmath>
#include <optional>
#include <type_traits>

#include "engine/cuda/kernels/swiglu.h"
#include "engine/cuda/selftest/check.h"
#include "engine/cuda/selftest/gemm_problem.h"

namespace starpo::cuda {
namespace {

struct Case {
  GemmLayout layout;
  int m, n, k;
  std::optional<GemmPlan> plan = {};  // default: the choice of gemm_nt, gemm_nn or gemm_tn
  bool bias = false, accumulate = false;
  int ld_c = 3;
};

const char* kernel_name(GemmLayout layout) {
  return layout == GemmLayout::nt ? "gemm_nt" : layout == GemmLayout::nn ? "gemm_nn" : "gemm_tn";
}

std::string plan_name(const GemmPlan& plan) {
  return std::string(tile_name(plan.tile)) + " split " + std::to_string(plan.split);
}
std::string size_name(int m, int n, int k) {
  return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

template <typename T, typename Out>
void run(Stream& stream, const Case& c, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace) {
  if (c.plan) return gemm_planned(stream, c.layout, gemm, *c.plan, workspace);
  switch (c.layout) {
    case GemmLayout::nt: return gemm_nt(stream, gemm, workspace);
    case GemmLayout::nn: return gemm_nn(stream, gemm, workspace);
    case GemmLayout::tn: return gemm_tn(stream, gemm, workspace);
  }
}

template <typename T, typename Out>
double product_error(Stream& stream, const Case& c) {
  GemmProblem<T, Out> problem(stream, c.layout, c.m, c.n, c.k, c.ld_c);
  Gemm<T, Out> gemm = problem.gemm();
  if (c.bias) gemm.bias = problem.device_bias.data();
  if constexpr (std::is_same_v<Out, float>) {
    gemm.accumulate = c.accumulate;
    if (c.accumulate) problem.device_c.upload(stream, problem.before);
  }
  run(stream, c, gemm, problem.workspace());
  return normalized_mean_square_error(problem.result(stream), problem.reference(c.bias, c.accumulate));
}

template <typename T>
double swiglu_error(Stream& stream, int m, int n, int k, std::optional<GemmPlan> plan, int c_padding) {
  GemmProblem<T, T> hidden(stream, GemmLayout::nt, m, n, k, c_padding), both(stream, GemmLayout::nt, m, 2 * n, k);
  Gemm<T> gemm = hidden.gemm();
  gemm.b = both.device_b.data();
  if (plan)
    gemm_swiglu_planned(stream, gemm, *plan);
  else
    gemm_swiglu(stream, gemm, hidden.workspace());
  const std::vector<double> gate_up = both.reference(false, false);
  std::vector<double> expected;
  for (std::size_t row = 0; row < static_cast<std::size_t>(m); ++row)
    for (std::size_t column = 0; column < static_cast<std::size_t>(n); ++column) {
      const double gate = gate_up[row * 2 * static_cast<std::size_t>(n) + column],
                   up = gate_up[(row * 2 + 1) * static_cast<std::size_t>(n) + column];
      expected.push_back(gate / (1 + std::exp(-gate)) * up);
    }
  return normalized_mean_square_error(hidden.result(stream), expected);
}

// Results are bit-identical for all tiles.
double tiles_agree(Stream& stream, GemmLayout layout) {
  std::vector<float> first;
  for (const GemmTile tile : kGemmTiles) {
    if (!has_tile(layout, tile)) continue;
    GemmProblem<Bf16, float> problem(stream, layout, 45, 70, 200, 2);
    gemm_planned(stream, layout, problem.gemm(), {tile});
    const std::vector<float> result = problem.result(stream);
    if (first.empty()) first = result;
    if (!same_bits(result, first)) return 1;
  }
  return 0;
}

// A product of some rows of a and some rows of b is bit-identical to its elements in the whole product, which is stored
// in pairs.
template <typename T>
double parts_agree(Stream& stream) {
  constexpr int m = 67, n = 46, k = 152;
  GemmProblem<T, float> whole(stream, GemmLayout::nt, m, n, k, 2);
  Gemm<T, float> gemm = whole.gemm();
  gemm.exact = true;
  gemm_nt(stream, gemm, whole.workspace());
  const std::vector<float> all = whole.result(stream);
  struct Part {
    int row, rows, column, columns;
  };
  for (const Part part : {Part{40, 1, 0, n}, {3, 20, 17, 9}, {50, 17, 44, 1}}) {
    GemmProblem<T, float> some(stream, GemmLayout::nt, part.rows, part.columns, k);
    Gemm<T, float> piece = some.gemm();
    piece.exact = true;
    piece.a = whole.device_a.data() + part.row * whole.lda;
    piece.b = whole.device_b.data() + part.column * whole.ldb;
    gemm_nt(stream, piece, some.workspace());
    std::vector<float> expected;
    for (int row = part.row; row < part.row + part.rows; ++row)
      for (int column = part.column; column < part.column + part.columns; ++column)
        expected.push_back(all[static_cast<std::size_t>(row * n + column)]);
    if (!same_bits(some.result(stream), expected)) return 1;
  }
  return 0;
}

// The fused kernel of decoding is bit-identical to the update's two kernels.
template <typename T>
double swiglu_agrees(Stream& stream) {
  constexpr int m = 19, n = 40, k = 72;
  GemmProblem<T, T> both(stream, GemmLayout::nt, m, 2 * n, k, 0);
  Gemm<T> gate_up = both.gemm();
  gate_up.exact = true;
  gemm_nt(stream, gate_up);
  DeviceBuffer<T> expected(stream, static_cast<std::size_t>(m) * n);
  swiglu(stream, m, n, both.device_c.data(), expected.data());
  const auto expected_bits = on_host(stream, expected);
  for (const GemmTile tile : kGemmTiles) {
    auto hidden = poisoned<T>(stream, expected.size());
    gemm_swiglu_planned(
        stream, {m, n, k, both.device_a.data(), both.lda, both.device_b.data(), both.ldb, hidden.data(), n}, {tile});
    if (!same_bits(on_host(stream, hidden), expected_bits)) return 1;
  }
  return 0;
}

double split_repeats(Stream& stream) {
  const auto once = [&] {
    GemmProblem<Bf16, float> problem(stream, GemmLayout::nt, 19, 38, 520);
    gemm_planned(stream, GemmLayout::nt, problem.gemm(), {GemmTile::narrow, 3}, problem.workspace());
    return problem.result(stream);
  };
  return same_bits(once(), once()) ? 0 : 1;
}

template <typename T, typename Out>
void add(std::vector<Check>& checks, const Case& c) {
  const bool rounded = std::is_same_v<Out, Bf16>;
  std::string name = std::string(kernel_name(c.layout)) +
                     (std::is_same_v<T, float> ? " fp32"
                      : rounded                ? " bf16"
                                               : " bf16 to fp32") +
                     " " + size_name(c.m, c.n, c.k);
  if (c.plan) name += " " + plan_name(*c.plan);
  if (c.bias) name += " bias";
  if (c.accumulate) name += " accumulated";
  checks.push_back({name, rounded ? kBf16Tolerance : kFp32Tolerance, product_error<T, Out>, c});
}

void add_swiglu(std::vector<Check>& checks, int m, int n, int k, std::optional<GemmPlan> plan, int c_padding) {
  const std::string name = size_name(m, n, k) + (plan ? " " + plan_name(*plan) : "");
  checks.push_back({"gemm_swiglu bf16 " + name, kBf16Tolerance, swiglu_error<Bf16>, m, n, k, plan, c_padding});
}

}  // namespace

std::vector<Check> gemm_checks() {
  using enum GemmLayout;
  using enum GemmTile;
  std::vector<Check> checks;
  for (const GemmTile tile : kGemmTiles) {
    add<Bf16, float>(checks, {nt, 133, 78, 72, GemmPlan{tile}, false, false, 2});
    add<Bf16, Bf16>(checks, {nt, 21, 68, 136, GemmPlan{tile}, false, false, 4});
    add<Bf16, float>(checks, {nt, 9, 36, 328, GemmPlan{tile, 3}, true});
    add_swiglu(checks, 37, 44, 72, GemmPlan{tile}, 2);
  }
  for (const GemmTile tile : {large, medium}) {
    add<Bf16, Bf16>(checks, {nn, 130, 78, 40, GemmPlan{tile}, false, false, 2});
    add<Bf16, Bf16>(checks, {nn, 130, 78, 43, GemmPlan{tile}, false, false, 2});
    add<Bf16, float>(checks, {nn, 21, 70, 203, GemmPlan{tile, 2}, false, true, 2});
    add<Bf16, float>(checks, {tn, 133, 78, 35, GemmPlan{tile}, false, false, 2});
    add<Bf16, float>(checks, {tn, 133, 78, 35, GemmPlan{tile}, false, true, 2});
    add<Bf16, float>(checks, {tn, 21, 70, 203, GemmPlan{tile, 2}, false, true, 2});
  }
  // Results that can't be stored in pairs: an odd width or stride, a bias, or a sum that is added to c.
  add<Bf16, float>(checks, {nt, 133, 77, 72, {}, false, false, 1});
  add<Bf16, float>(checks, {nt, 133, 78, 72, {}, false, true, 2});
  add<Bf16, Bf16>(checks, {nt, 21, 68, 136, {}, true, false, 4});
  add<Bf16, float>(checks, {nt, 9, 35, 328, GemmPlan{medium, 3}, true});
  add<Bf16, Bf16>(checks, {nn, 130, 77, 40, {}});
  add<Bf16, float>(checks, {tn, 133, 77, 35, {}, false, true, 1});
  add_swiglu(checks, 37, 43, 72, GemmPlan{medium}, 3);
  // Sizes of decoding: one sequence, a few, more. plan_gemm() chooses the plan.
  for (const int m : {1, 17, 40}) add<Bf16, Bf16>(checks, {nt, m, 48, 1048, {}, true, false, 2});
  add_swiglu(checks, 3, 24, 64, {}, 2);
  for (const GemmLayout layout : {nt, nn, tn}) {
    add<float, float>(checks, {layout, 67, 33, 39, {}, layout == nt, layout == tn});
    add<float, float>(checks, {layout, 1, 3, 5, {}, false, true, 0});
    checks.push_back(
        {std::string(kernel_name(layout)) + " bf16, bit-identical for all tiles", kExact, tiles_agree, layout});
  }
  checks.push_back({"gemm_swiglu fp32 5x37x24", kFp32Tolerance, swiglu_error<float>, 5, 37, 24, std::nullopt, 3});
  checks.push_back({"gemm_nt bf16 exact, a part is bit-identical to the whole", kExact, parts_agree<Bf16>});
  checks.push_back({"gemm_nt fp32 exact, a part is bit-identical to the whole", kExact, parts_agree<float>});
  checks.push_back({"gemm_swiglu bf16 equals gemm_nt and swiglu", kExact, swiglu_agrees<Bf16>});
  checks.push_back({"gemm_swiglu fp32 equals gemm_nt and swiglu", kExact, swiglu_agrees<float>});
  checks.push_back({"gemm_nt bf16 split is reproducible", kExact, split_repeats});
  return checks;
}

}  // namespace starpo::cuda
