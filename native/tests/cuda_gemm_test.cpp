// Runs matrix products in the emulation, in thread orders in which a missing barrier or a copy that is read too early
// changes results.
#include <doctest/doctest.h>

#include "engine/cuda/emulated/order.h"
#include "engine/cuda/kernels/gemm.h"
#include "engine/cuda/selftest/self_test.h"
#include "thread_orders.h"

namespace starpo::cuda {

std::vector<Check> gemm_checks();

namespace {

constexpr std::size_t kPartials = std::size_t{8} << 20;

TEST_CASE("cuda gemm: every product matches the reference in every thread order") {
  for (const unsigned order : thread_orders()) {
    CAPTURE(order);
    emulated::set_order(order);
    Stream stream;
    int ran = 0;
    run_checks(gemm_checks(), "", stream, [&](const CheckResult& result) {
      CAPTURE(result.name);
      CAPTURE(result.failure);
      CAPTURE(result.error);
      CHECK(result.ok);
      ++ran;
    });
    CHECK(ran > 40);
  }
  emulated::set_order(0);
}

TEST_CASE("cuda gemm: plans use the whole GPU and fit their workspace") {
  constexpr int multiprocessors = 132;
  const auto plan = [](GemmLayout layout, int m, int n, int k, bool exact = false, std::size_t space = kPartials) {
    return plan_gemm(layout, m, n, k, exact, space, multiprocessors);
  };
  const auto blocks = [](const GemmPlan& p, int m, int n) {
    const TileSize size = tile_size(p.tile);
    return ((m + size.m - 1) / size.m) * ((n + size.n - 1) / size.n) * p.split;
  };

  CHECK(plan(GemmLayout::nt, 16384, 9728, 896).tile == GemmTile::large);
  CHECK(plan(GemmLayout::nn, 16384, 896, 9728).tile == GemmTile::large);
  CHECK(plan(GemmLayout::nt, 16384, 9728, 896).split == 1);
  CHECK(plan(GemmLayout::tn, 896, 896, 16384).split > 1);

  // The down projection of Qwen2.5-0.5B in decode: seven tiles of 128 x 128 would use only a small part of the GPU.
  for (const int m : {1, 8, 16, 32, 64, 128, 256}) {
    CAPTURE(m);
    CHECK(blocks(plan(GemmLayout::nt, m, 896, 4864), m, 896) >= multiprocessors / 2);
    CHECK(plan(GemmLayout::nt, m, 896, 4864).split > 1);
    CHECK(plan(GemmLayout::nt, m, 896, 4864, true).split == 1);
    CHECK(plan(GemmLayout::nt, m, 896, 4864, false, 0).split == 1);
  }
  CHECK(plan(GemmLayout::nt, 1, 896, 4864).tile == GemmTile::row);

  for (const int k : {8, 64, 136, 1000, 4864})
    for (int split = 1; split <= 16; ++split) {
      const int length = split_length(k, split);
      CHECK(length % 64 == 0);
      CHECK(length * split >= k);
    }
  const GemmPlan tight = plan(GemmLayout::nt, 64, 896, 4864, false, std::size_t{3} * 64 * 896);
  CHECK(tight.split <= 3);
}

}  // namespace
}  // namespace starpo::cuda
