#include <doctest/doctest.h>

#include <set>

#include "engine/cuda/kernels/gemm_plans.h"
#include "kernels.h"

using namespace starpo;

TEST_CASE("starpo-bench kernels measures the ceilings, and every kernel and plan of a decode step") {
  const cuda::TimedSteps steps{timed_shape("tiny"), {8}, 600};
  const cuda::KernelTimes measured = cuda::time_kernels(0, steps, {1, 1, 1 << 14, 1 << 12, 2});
  const auto json = to_json(measured, "tiny");
  CHECK(json.at("ceilings").at("bytes_per_second") > 0);
  CHECK(json.at("ceilings").at("operations_per_second") > 0);
  CHECK(json.at("device_name") == "emulated");

  std::set<std::string> kernels;
  std::map<std::pair<std::string, int>, int> chosen, plans;
  for (const auto& each : json.at("kernels")) {
    const std::string kernel = each.at("kernel");
    const int rows = each.at("rows");
    kernels.insert(kernel);
    CHECK(each.at("microseconds") > 0);
    CHECK(each.at("bytes") > 0);
    CHECK(each.at("share_of_ceiling") >= 0);
    if (each.contains("plan")) ++plans[{kernel, rows}];
    if (each.contains("chosen")) ++chosen[{kernel, rows}];
  }
  CHECK(kernels == std::set<std::string>{"qkv", "attention_output", "gate_up", "down", "head", "residual_norm",
                                         "cached_attention exact", "cached_attention", "cached_attention split",
                                         "sample"});
  CHECK(chosen.size() == 5);
  for (const auto& [product, count] : chosen) CHECK(count == 1);
  CHECK(plans.at({"gate_up", 8}) == 5);  // SwiGLU can't be split
  CHECK(plans.at({"down", 8}) == 10);    // k is 104: one or two parts

  // The head reads x [8, 72] and W [88, 72] in bf16, and writes fp32.
  int heads = 0;
  for (const cuda::KernelTime& time : measured.times)
    if (time.kernel == "head" && time.rows == 8) {
      ++heads;
      CHECK(time.bytes == 2 * (8 * 72 + 88 * 72) + 4 * 8 * 88);
      CHECK(time.operations == 2 * 8 * 88 * 72);
    }
  CHECK(heads > 0);
}

TEST_CASE("a measured plan applies to products of its shape with at most its number of rows") {
  using enum cuda::GemmLayout;
  const std::vector<cuda::MeasuredPlan> table{{132, nt, 896, 4864, false, 8, {cuda::GemmTile::row, 8}},
                                              {132, nt, 896, 4864, false, 64, {cuda::GemmTile::small, 4}},
                                              {132, nt, 896, 4864, true, 64, {cuda::GemmTile::small}}};
  const auto find = [&](int m, bool exact = false, int max_split = 16, int multiprocessors = 132) {
    const cuda::MeasuredPlan* const found = cuda::find_plan(table, nt, m, 896, 4864, exact, max_split, multiprocessors);
    return found ? std::string(tile_name(found->plan.tile)) + " " + std::to_string(found->plan.split) : "estimate";
  };
  CHECK(find(1) == "row 8");
  CHECK(find(8) == "row 8");
  CHECK(find(9) == "small 4");
  CHECK(find(65) == "estimate");
  CHECK(find(9, true) == "small 1");
  CHECK(find(9, false, 3) == "estimate");        // the partial sums don't fit
  CHECK(find(9, false, 16, 108) == "estimate");  // another GPU
  CHECK(cuda::find_plan(table, nt, 8, 896, 896, false, 16, 132) == nullptr);
  CHECK(cuda::find_plan(table, nn, 8, 896, 4864, false, 16, 132) == nullptr);
}
