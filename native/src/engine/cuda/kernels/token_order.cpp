#include <algorithm>
#include <numeric>

#include "engine/cuda/kernels/embedding.h"

namespace starpo::cuda {

TokenOrder order_by_token(std::span<const std::int32_t> ids) {
  TokenOrder order;
  order.rows.resize(ids.size());
  std::iota(order.rows.begin(), order.rows.end(), 0);
  std::stable_sort(order.rows.begin(), order.rows.end(),
                   [&](std::int32_t a, std::int32_t b) { return ids[a] < ids[b]; });
  for (std::size_t i = 0; i < order.rows.size(); ++i) {
    const std::int32_t id = ids[order.rows[i]];
    if (!order.ids.empty() && order.ids.back() == id) continue;
    order.ids.push_back(id);
    order.starts.push_back(static_cast<std::int32_t>(i));
  }
  order.starts.push_back(static_cast<std::int32_t>(ids.size()));
  return order;
}

}  // namespace starpo::cuda
