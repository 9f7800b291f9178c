#include "engine/cuda/kernels/rope.h"

#include <stdexcept>

#include "engine/cuda/kernels/rope.cuh"

namespace starpo::cuda {
namespace {

constexpr int kRopeThreads = 256;

// Each thread computes eight elements of the first half of a head and their partners in the second half. direction: 1,
// or -1 to rotate back.
template <class T, bool append>
__global__ void __launch_bounds__(kRopeThreads)
    rotate_kernel(int items, QkvShape shape, T* qkv, const float* bias, const std::int32_t* positions,
                  RotaryTables tables, float direction, KvCache<T> cache, const std::int32_t* row_slot) {
  const int item = blockIdx.x * kRopeThreads + threadIdx.x;
  if (item >= items) return;
  const int half = shape.head_dim / 2, parts = half / 8, row_items = (shape.heads + 2 * shape.kv_heads) * parts;
  const int row = item / row_items, head = item % row_items / parts, offset = item % parts * 8;
  const int column = head * shape.head_dim + offset;
  T* const low = qkv + static_cast<std::size_t>(row) * row_items * 16 + column;
  T* const high = low + half;
  const int position = positions[row];

  float a[8], b[8];
  const bool rotates = head < shape.heads + shape.kv_heads;
  const std::size_t angle = static_cast<std::size_t>(position) * half + offset;
  load_rotated(low, half, bias == nullptr ? nullptr : bias + column, rotates ? tables.cosines + angle : nullptr,
               tables.sines + angle, direction, a, b);
  store_eight(low, a);
  store_eight(high, b);

  if constexpr (append) {
    const int slot = row_slot[row];
    if (head < shape.heads || slot < 0) return;
    const bool key = head < shape.heads + shape.kv_heads;
    const int kv_head = head - shape.heads - (key ? 0 : shape.kv_heads);
    const std::size_t token = (static_cast<std::size_t>(slot) * shape.kv_heads + kv_head) * cache.context + position;
    T* const stored = (key ? cache.keys : cache.values) + token * shape.head_dim + offset;
    store_eight(stored, a);
    store_eight(stored + half, b);
  }
}

template <class T, bool append>
void rotate(Stream& stream, int rows, const QkvShape& shape, T* qkv, const float* bias, const std::int32_t* positions,
            const RotaryTables& tables, float direction, const KvCache<T>& cache, const std::int32_t* row_slot) {
  if (shape.head_dim % 16 != 0) throw std::invalid_argument("head_dim must be a multiple of 16");
  const int items = rows * (shape.columns() / 16);
  STARPO_LAUNCH(stream, (items + kRopeThreads - 1) / kRopeThreads, kRopeThreads, 0, (rotate_kernel<T, append>), items,
                shape, qkv, bias, positions, tables, direction, cache, row_slot);
}

}  // namespace

template <class T>
void bias_rope(Stream& stream, int rows, const QkvShape& shape, T* qkv, const float* bias,
               const std::int32_t* positions, const RotaryTables& tables) {
  rotate<T, false>(stream, rows, shape, qkv, bias, positions, tables, 1, {}, nullptr);
}

template <class T>
void bias_rope_append(Stream& stream, int rows, const QkvShape& shape, T* qkv, const float* bias,
                      const std::int32_t* positions, const RotaryTables& tables, const KvCache<T>& cache,
                      const std::int32_t* row_slot) {
  if (cache.kv_heads != shape.kv_heads || cache.head_dim != shape.head_dim)
    throw std::invalid_argument("the shapes of cache and keys differ");
  rotate<T, true>(stream, rows, shape, qkv, bias, positions, tables, 1, cache, row_slot);
}

template <class T>
void rope_backward(Stream& stream, int rows, const QkvShape& shape, T* qkv_gradient, const std::int32_t* positions,
                   const RotaryTables& tables) {
  rotate<T, false>(stream, rows, shape, qkv_gradient, nullptr, positions, tables, -1, {}, nullptr);
}

template void bias_rope(Stream&, int, const QkvShape&, float*, const float*, const std::int32_t*, const RotaryTables&);
template void bias_rope(Stream&, int, const QkvShape&, Bf16*, const float*, const std::int32_t*, const RotaryTables&);
template void bias_rope_append(Stream&, int, const QkvShape&, float*, const float*, const std::int32_t*,
                               const RotaryTables&, const KvCache<float>&, const std::int32_t*);
template void bias_rope_append(Stream&, int, const QkvShape&, Bf16*, const float*, const std::int32_t*,
                               const RotaryTables&, const KvCache<Bf16>&, const std::int32_t*);
template void rope_backward(Stream&, int, const QkvShape&, float*, const std::int32_t*, const RotaryTables&);
template void rope_backward(Stream&, int, const QkvShape&, Bf16*, const std::int32_t*, const RotaryTables&);

}  // namespace starpo::cuda
