#include "engine/cuda/emulated/schedule.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "engine/cuda/emulated/order.h"
#include "engine/cuda/emulated/thread.h"

namespace starpo::cuda::emulated {
namespace {

std::atomic<unsigned> order{0};
constexpr unsigned kFirstRandomOrder = 4;

}  // namespace

void set_order(unsigned seed) { order = seed; }

Schedule::Schedule()
    : seed_(order),
      random_order_(seed_ >= kFirstRandomOrder),
      whole_warps_(random_order_ ? seed_ % 2 == 1 : seed_ >= 2),
      random_(seed_ + 1) {}

std::vector<int> Schedule::permutation(int count, bool of_threads) {
  std::vector<int> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  if (!random_order_) {
    if (seed_ % 2 == 1) std::reverse(indices.begin(), indices.end());
    return indices;
  }
  std::shuffle(indices.begin(), indices.end(), random_);
  if (of_threads && whole_warps_) {
    std::vector<int> warp_order(static_cast<std::size_t>(count + kWarpSize - 1) / kWarpSize);
    std::iota(warp_order.begin(), warp_order.end(), 0);
    std::shuffle(warp_order.begin(), warp_order.end(), random_);
    std::stable_sort(indices.begin(), indices.end(), [&](int a, int b) {
      return warp_order[static_cast<std::size_t>(a / kWarpSize)] < warp_order[static_cast<std::size_t>(b / kWarpSize)];
    });
  }
  return indices;
}

}  // namespace starpo::cuda::emulated
