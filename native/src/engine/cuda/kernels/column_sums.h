#pragma once

#include <cstddef>

#include "engine/cuda/runtime/stream.h"

// Sums over rows in a fixed order, for the gradients of biases, norm weights and the value head. T: Bf16 or float.
// columns: a multiple of 8. Pointers are device memory, aligned to 16 bytes.
namespace starpo::cuda {

// sums[c] += sum over rows of x[r, c]. partials: scratch for column_sums_partials(rows, columns) floats.
template <class T>
void column_sums(Stream&, int rows, int columns, const T* x, float* sums, float* partials);

// sums[c] += sum over rows of factors[r] x[r, c]. factors: [rows].
template <class T>
void weighted_column_sums(Stream&, int rows, int columns, const float* factors, const T* x, float* sums,
                          float* partials);

std::size_t column_sums_partials(int rows, int columns);

// sums[c] += sum over rows of partials[r, c].
void add_partials(Stream&, int rows, int columns, const float* partials, float* sums);

}  // namespace starpo::cuda
