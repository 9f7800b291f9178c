#include "engine/cuda/kernels/decode_state.h"
#include "engine/cuda/runtime/graph.h"
#include "engine/cuda/selftest/arrays.h"

namespace starpo::cuda {
namespace {

using Numbers = std::vector<std::int32_t>;

// Runs four steps with a log of three entries. The last three steps run as a graph.
double advances(Stream& stream) {
  constexpr int rows = 5, capacity = 3;
  // Row 0 keeps running, 1 stops, 2 has two tokens unwritten, 3 has non-finite logits, 4 had stopped before.
  auto ids = on_device(stream, Numbers{10, 11, 12, -1, 14}), stops = on_device(stream, Numbers{0, 1, 0, 0, 0});
  auto logprobs = on_device(stream, std::vector<float>{-1, -2, -3, -4, -5}),
       entropies = on_device(stream, std::vector<float>{1, 2, 3, 4, 5});
  auto tokens = on_device(stream, Numbers{1, 2, 3, 4, 5}), positions = on_device(stream, Numbers{5, 6, 7, 8, 9}),
       remaining = on_device(stream, Numbers{9, 9, 2, 9, 9}), states = on_device(stream, Numbers{0, 0, 0, 0, 1}),
       logged = on_device(stream, Numbers{0, 0, 0, 0, 0}), slots = on_device(stream, Numbers{3, 4, 5, 6, 7});
  auto log_ids = on_device(stream, Numbers(rows * capacity, -7));
  auto log_logprobs = on_device(stream, std::vector<float>(rows * capacity, 0)),
       log_entropies = on_device(stream, std::vector<float>(rows * capacity, 0));
  const auto advance_all = [&] {
    advance(stream, rows, {ids.data(), logprobs.data(), entropies.data(), stops.data()},
            {tokens.data(), positions.data(), remaining.data(), states.data(), logged.data(), slots.data()},
            {log_ids.data(), log_logprobs.data(), log_entropies.data(), capacity});
  };
  advance_all();
  Graph step(stream, advance_all);
  for (int i = 0; i < 3; ++i) step.launch(stream);
  const Numbers unwritten{-7, -7, -7};
  Numbers log{10, 10, 10, 11, -7, -7, 12, 12, -7};
  log.insert(log.end(), unwritten.begin(), unwritten.end());
  log.insert(log.end(), unwritten.begin(), unwritten.end());
  const bool correct =
      on_host(stream, tokens) == Numbers{10, 11, 12, 4, 5} && on_host(stream, positions) == Numbers{8, 7, 9, 8, 9} &&
      on_host(stream, remaining) == Numbers{6, 8, 0, 9, 9} && on_host(stream, states) == Numbers{0, 1, 2, 3, 1} &&
      on_host(stream, logged) == Numbers{3, 1, 2, 0, 0} && on_host(stream, slots) == Numbers{3, -1, -1, -1, 7} &&
      on_host(stream, log_ids) == log &&
      on_host(stream, log_logprobs) == std::vector<float>{-1, -1, -1, -2, 0, 0, -3, -3, 0, 0, 0, 0, 0, 0, 0} &&
      on_host(stream, log_entropies) == std::vector<float>{1, 1, 1, 2, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0};
  // After the host empties the log, the row that waited continues.
  logged.fill_zero(stream);
  step.launch(stream);
  return correct && on_host(stream, logged) == Numbers{1, 0, 0, 0, 0} && on_host(stream, positions)[0] == 9 ? 0 : 1;
}

}  // namespace

std::vector<Check> decode_state_checks() { return {{"advance of a decoding step", kExact, advances}}; }

}  // namespace starpo::cuda
