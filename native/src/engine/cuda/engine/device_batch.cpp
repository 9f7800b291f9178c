#include "engine/cuda/engine/device_batch.h"

#include <stdexcept>

#include "engine/cuda/kernels/embedding.h"

namespace starpo::cuda {

DeviceBatch::DeviceBatch(Arena& arena, int tokens) : capacity_(tokens) {
  const std::size_t count = tokens;
  for (std::int32_t** each : {&ids, &positions, &target_rows, &target_ids, &order_ids, &order_rows}) *each = arena.take<std::int32_t>(count);
  order_starts = arena.take<std::int32_t>(count + 1);
  starts_ = arena.take<std::int32_t>(count + 1);
}

void DeviceBatch::upload(Stream& stream, const PackedBatch& batch, int vocab) {
  const auto& starts = batch.sequence_starts;
  tokens = static_cast<int>(batch.tokens.size());
  targets = static_cast<int>(batch.targets.size());
  if (tokens > capacity_) throw std::invalid_argument("the micro-batch is larger than planned");
  if (starts.size() < 2 || starts.front() != 0 || starts.back() != tokens) throw std::invalid_argument("sequence_starts must run from 0 to the number of tokens");
  for (const std::int32_t token : batch.tokens)
    if (token < 0 || token >= vocab) throw std::out_of_range("token outside the vocabulary");

  std::vector<std::int32_t> place(batch.tokens.size()), rows, wanted;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    if (starts[i + 1] <= starts[i] || starts[i + 1] > tokens) throw std::invalid_argument("sequence_starts must ascend to the number of tokens");
    for (std::int32_t token = starts[i]; token < starts[i + 1]; ++token) place[token] = token - starts[i];
  }
  target_counts.assign(starts.size() - 1, 0);
  std::size_t sequence = 0;
  for (const std::int32_t target : batch.targets) {
    const bool ascends = rows.empty() || target - 1 > rows.back();
    if (target < 0 || target >= tokens || place[target] == 0 || !ascends) throw std::invalid_argument("targets must ascend, and none be a sequence's first token");
    while (target >= starts[sequence + 1]) ++sequence;
    ++target_counts[sequence];
    rows.push_back(target - 1);
    wanted.push_back(batch.tokens[target]);
  }
  const TokenOrder order = order_by_token(batch.tokens);
  unique = static_cast<int>(order.ids.size());

  cuda::upload(stream, ids, batch.tokens);
  cuda::upload(stream, positions, place);
  cuda::upload(stream, target_rows, rows);
  cuda::upload(stream, target_ids, wanted);
  cuda::upload(stream, order_ids, order.ids);
  cuda::upload(stream, order_starts, order.starts);
  cuda::upload(stream, order_rows, order.rows);
  cuda::upload(stream, starts_, starts);
  sequences = packed_sequences(starts, starts_);
}

}  // namespace starpo::cuda
