#include <cmath>

#include "engine/cuda/kernels/rope.h"
#include "engine/cuda/selftest/arrays.h"

namespace starpo::cuda {
namespace {

constexpr int kContext = 19;

struct Tables {
  std::vector<float> cosines, sines;
  explicit Tables(int half) {
    for (int i = 0; i < kContext * half; ++i) {
      const double angle = (i / half) * std::pow(1e4, -static_cast<double>(i % half) / half);
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
  }
};

// direction: 1 forward, -1 backward.
std::vector<double> rotated(std::vector<double> qkv, const QkvShape& shape, const std::vector<std::int32_t>& positions,
                            const Tables& tables, double direction) {
  const int half = shape.head_dim / 2;
  for (std::size_t row = 0; row < positions.size(); ++row)
    for (int head = 0; head < shape.heads + shape.kv_heads; ++head)
      for (int i = 0; i < half; ++i) {
        double& low = qkv[row * shape.columns() + head * shape.head_dim + i];
        double& high = (&low)[half];
        const double c = tables.cosines[positions[row] * half + i],
                     s = direction * tables.sines[positions[row] * half + i], a = low, b = high;
        low = a * c - b * s;
        high = b * c + a * s;
      }
  return qkv;
}

template <class T>
double rotates(Stream& stream, int rows, const QkvShape& shape) {
  const auto qkv = random_numbers<T>(static_cast<std::size_t>(rows) * shape.columns(), 21);
  const auto bias = random_numbers(shape.columns(), 22);
  const auto positions = random_indices(rows, 23, kContext);
  const Tables tables(shape.head_dim / 2);
  auto biased = doubles(qkv);
  for (std::size_t i = 0; i < biased.size(); ++i) biased[i] += bias[i % shape.columns()];

  auto forward = on_device(stream, qkv), backward = on_device(stream, qkv);
  auto bias_buffer = on_device(stream, bias), cosines = on_device(stream, tables.cosines),
       sines = on_device(stream, tables.sines);
  auto position_buffer = on_device(stream, positions);
  bias_rope<T>(stream, rows, shape, forward.data(), bias_buffer.data(), position_buffer.data(),
               {cosines.data(), sines.data()});
  rope_backward<T>(stream, rows, shape, backward.data(), position_buffer.data(), {cosines.data(), sines.data()});
  return error_of(stream, forward, rotated(biased, shape, positions, tables, 1)) +
         error_of(stream, backward, rotated(doubles(qkv), shape, positions, tables, -1));
}

// Rows are bit-identical with and without a cache, and the cache contains only these rows, at the right place.
template <class T>
double appends(Stream& stream) {
  const QkvShape shape{4, 2, 32};
  const int slots = 3, width = shape.kv_heads * shape.head_dim;
  const std::vector<std::int32_t> positions{0, 7, 3, 18}, row_slot{2, 0, -1, 2};
  const int rows = static_cast<int>(positions.size());
  const auto qkv = random_numbers<T>(rows * shape.columns(), 24);
  const Tables tables(shape.head_dim / 2);
  auto cosines = on_device(stream, tables.cosines), sines = on_device(stream, tables.sines);
  auto position_buffer = on_device(stream, positions), slot_buffer = on_device(stream, row_slot);
  auto plain = on_device(stream, qkv), stored = on_device(stream, qkv);
  const std::size_t size = static_cast<std::size_t>(slots) * kContext * width;
  auto keys = poisoned<T>(stream, size), values = poisoned<T>(stream, size);
  auto keys_expected = on_host(stream, keys), values_expected = keys_expected;
  const KvCache<T> cache{keys.data(), values.data(), slots, shape.kv_heads, kContext, shape.head_dim, nullptr, nullptr};
  bias_rope<T>(stream, rows, shape, plain.data(), nullptr, position_buffer.data(), {cosines.data(), sines.data()});
  bias_rope_append<T>(stream, rows, shape, stored.data(), nullptr, position_buffer.data(),
                      {cosines.data(), sines.data()}, cache, slot_buffer.data());

  const auto expected = on_host(stream, plain);
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < width; ++i) {
      if (row_slot[row] < 0) continue;
      const int head = i / shape.head_dim,
                at = ((row_slot[row] * shape.kv_heads + head) * kContext + positions[row]) * shape.head_dim +
                     i % shape.head_dim;
      keys_expected[at] = expected[row * shape.columns() + shape.heads * shape.head_dim + i];
      values_expected[at] = expected[row * shape.columns() + shape.heads * shape.head_dim + width + i];
    }
  return same_bits(on_host(stream, stored), expected) && same_bits(on_host(stream, keys), keys_expected) &&
                 same_bits(on_host(stream, values), values_expected)
             ? 0
             : 1;
}

template <class T>
void append_rope_checks(std::vector<Check>& checks) {
  checks.push_back({"rope" + type_name<T>() + "5 rows, 3 and 1 heads of 16", kElementwiseTolerance<T>, rotates<T>, 5,
                    QkvShape{3, 1, 16}});
  checks.push_back({"rope" + type_name<T>() + "3 rows, 6 and 2 heads of 64", kElementwiseTolerance<T>, rotates<T>, 3,
                    QkvShape{6, 2, 64}});
  checks.push_back({"rope" + type_name<T>() + "into the cache", kExact, appends<T>});
}

}  // namespace

std::vector<Check> rope_checks() {
  std::vector<Check> checks;
  append_rope_checks<float>(checks);
  append_rope_checks<Bf16>(checks);
  return checks;
}

}  // namespace starpo::cuda
