#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cuda/runtime/stream.h"

// The embedding table: lookup and gradient. columns: a multiple of 8. Pointers are device memory, aligned to 16 bytes.
namespace starpo::cuda {

// x[i] = table[ids[i]]. ids: [tokens], table: [vocab, columns] of T (Bf16 or float), x: [tokens, columns].
template <class T>
void embed(Stream&, int tokens, int columns, const std::int32_t* ids, const T* table, float* x);

// The rows of each id, so that one block sums the gradient of an id in the order of the rows. Computed on the host.
struct TokenOrder {
  std::vector<std::int32_t> ids;     // [unique] ascending
  std::vector<std::int32_t> starts;  // [unique + 1] into rows
  std::vector<std::int32_t> rows;    // [tokens]
};
TokenOrder order_by_token(std::span<const std::int32_t> ids);

// table_gradient[ids[u]] += sum of x_gradient[r] over the rows r of id u. ids, starts and rows are a TokenOrder on the
// device. x_gradient: [tokens, columns].
void embedding_gradient(Stream&, int unique, int columns, const std::int32_t* ids, const std::int32_t* starts,
                        const std::int32_t* rows, const float* x_gradient, float* table_gradient);

}  // namespace starpo::cuda
