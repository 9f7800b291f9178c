#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/runtime/stream.h"

// RMSNorm (Zhang & Sennrich, arXiv 1910.07467) on the fp32 residual stream, and moving rows. T: Bf16 or float. columns:
// a multiple of 8. All pointers are device memory, aligned to 16 bytes. A row's results depend on that row alone.
namespace starpo::cuda {

// sum = x + delta (may be x; not written where delta is null, which means nothing), then normed = sum / rms(sum) *
// weight. x, sum, delta, normed: [rows, columns]; weight: [columns]; reciprocal_rms: [rows], kept for the backward
// pass, or null.
template <class T>
void residual_norm(Stream&, int rows, int columns, const float* x, const T* delta, float* sum, const float* weight,
                   float epsilon, T* normed, float* reciprocal_rms);

// The same in place: x += delta.
template <class T>
void residual_norm(Stream& stream, int rows, int columns, float* x, const T* delta, const float* weight, float epsilon,
                   T* normed, float* reciprocal_rms) {
  residual_norm(stream, rows, columns, x, delta, x, weight, epsilon, normed, reciprocal_rms);
}

// Adds to x_gradient [rows, columns] and weight_gradient [columns]. x, reciprocal_rms: as residual_norm left them;
// normed_gradient: [rows, columns]; partials: scratch of norm_backward_partials(rows, columns) floats.
template <class T>
void norm_backward(Stream&, int rows, int columns, const float* x, const float* weight, const float* reciprocal_rms,
                   const T* normed_gradient, float* x_gradient, float* weight_gradient, float* partials);
std::size_t norm_backward_partials(int rows, int columns);

// to[i] = from[index[i]] and to[index[i]] = from[i], for rows of so many columns; index: [rows], of scatter_rows
// without repetitions. Rows that none names stay as they are.
template <class T>
void gather_rows(Stream&, int rows, int columns, const T* from, const std::int32_t* index, T* to);
template <class T>
void scatter_rows(Stream&, int rows, int columns, const T* from, const std::int32_t* index, T* to);

}  // namespace starpo::cuda
