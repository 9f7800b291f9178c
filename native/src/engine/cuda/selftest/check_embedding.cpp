#include "engine/cuda/kernels/embedding.h"
#include "engine/cuda/selftest/arrays.h"

namespace starpo::cuda {
namespace {

template <class T>
double embeds(Stream& stream, int columns) {
  constexpr int vocab = 11, tokens = 6;
  const auto table = random_numbers<T>(vocab * columns, 41);
  const auto ids = random_indices(tokens, 42, vocab);
  std::vector<float> expected;
  for (const int id : ids)
    for (int c = 0; c < columns; ++c) expected.push_back(to_float(table[id * columns + c]));
  auto table_buffer = on_device(stream, table);
  auto id_buffer = on_device(stream, ids);
  auto x = poisoned<float>(stream, expected.size());
  embed<T>(stream, tokens, columns, id_buffer.data(), table_buffer.data(), x.data());
  return on_host(stream, x) == expected ? 0 : 1;
}

double adds_gradient(Stream& stream, int tokens, int columns) {
  constexpr int vocab = 7;
  const auto ids = random_indices(tokens, 43, vocab);
  const auto slope = random_numbers(tokens * columns, 44), old = random_numbers(vocab * columns, 45);
  auto expected = doubles(old);
  for (std::size_t i = 0; i < slope.size(); ++i) expected[ids[i / columns] * columns + i % columns] += slope[i];
  const TokenOrder order = order_by_token(ids);
  auto id_buffer = on_device(stream, order.ids), starts = on_device(stream, order.starts),
       rows = on_device(stream, order.rows);
  auto slope_buffer = on_device(stream, slope), gradient = on_device(stream, old);
  embedding_gradient(stream, static_cast<int>(order.ids.size()), columns, id_buffer.data(), starts.data(), rows.data(),
                     slope_buffer.data(), gradient.data());
  return error_of(stream, gradient, expected);
}

}  // namespace

std::vector<Check> embedding_checks() {
  return {{"embed fp32 6x72", kExact, embeds<float>, 72},
          {"embed bf16 6x1096", kExact, embeds<Bf16>, 1096},
          {"embedding_gradient 97x136", kFp32Tolerance, adds_gradient, 97, 136},
          {"embedding_gradient 1x8", kFp32Tolerance, adds_gradient, 1, 8}};
}

}  // namespace starpo::cuda
