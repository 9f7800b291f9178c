#include "engine/cuda/kernels/decode_state.h"

#include "engine/cuda/portable/cuda.h"

namespace starpo::cuda {
namespace {

constexpr int kDecodeStateThreads = 128;

__global__ void __launch_bounds__(kDecodeStateThreads)
    advance_kernel(int rows, Choices choices, DecodeRows state, DecodeLog log) {
  const int row = blockIdx.x * kDecodeStateThreads + threadIdx.x;
  if (row >= rows || state.states[row] != static_cast<std::int32_t>(RowState::running) ||
      state.logged[row] >= log.capacity)
    return;
  const std::int32_t id = choices.ids[row];
  if (id < 0) {
    state.states[row] = static_cast<std::int32_t>(RowState::not_finite);
    state.slots[row] = -1;
    return;
  }
  const int logged = state.logged[row]++, remaining = --state.remaining[row];
  const std::size_t entry = static_cast<std::size_t>(row) * log.capacity + logged;
  log.ids[entry] = id;
  log.logprobs[entry] = choices.logprobs[row];
  log.entropies[entry] = choices.entropies[row];
  state.tokens[row] = id;
  ++state.positions[row];
  const RowState next = choices.stops[row] ? RowState::stopped
                        : remaining <= 0   ? RowState::exhausted
                                           : RowState::running;
  state.states[row] = static_cast<std::int32_t>(next);
  if (next != RowState::running) state.slots[row] = -1;
}

}  // namespace

void advance(Stream& stream, int rows, const Choices& choices, const DecodeRows& state, const DecodeLog& log) {
  STARPO_LAUNCH(stream, (rows + kDecodeStateThreads - 1) / kDecodeStateThreads, kDecodeStateThreads, 0,
                (advance_kernel), rows, choices, state, log);
}

}  // namespace starpo::cuda
