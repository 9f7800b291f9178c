#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/runtime/stream.h"

// RMSNorm (Zhang & Sennrich, arXiv 1910.07467) on the fp32 residual stream, and gather and scatter of rows. T: Bf16 or
// float. columns: a multiple of 8. All pointers are device memory, aligned to 16 bytes. A row's results depend only on
// that row.
namespace starpo::cuda {

// sum = x + delta; normed = sum / rms(sum) * weight, with rms(s) = sqrt(mean(s^2) + epsilon). If delta is null, sum = x
// and isn't written. sum may be x. x, delta, sum and normed: [rows, columns]. weight: [columns]. reciprocal_rms:
// [rows], for the backward pass, or null.
template <class T>
void residual_norm(Stream&, int rows, int columns, const float* x, const T* delta, float* sum, const float* weight,
                   float epsilon, T* normed, float* reciprocal_rms);

// Works in place: x += delta; normed = x / rms(x) * weight.
template <class T>
void residual_norm(Stream& stream, int rows, int columns, float* x, const T* delta, const float* weight, float epsilon,
                   T* normed, float* reciprocal_rms) {
  residual_norm(stream, rows, columns, x, delta, x, weight, epsilon, normed, reciprocal_rms);
}

// Adds to x_gradient [rows, columns] and weight_gradient [columns]. x is the sum of residual_norm. normed_gradient:
// [rows, columns]. rounded: x_gradient in T, or null. partials: scratch for norm_backward_partials(rows, columns)
// floats.
template <class T>
void norm_backward(Stream&, int rows, int columns, const float* x, const float* weight, const float* reciprocal_rms,
                   const T* normed_gradient, float* x_gradient, T* rounded, float* weight_gradient, float* partials);
std::size_t norm_backward_partials(int rows, int columns);

// Copy rows: gather_rows sets to[i] = from[index[i]], scatter_rows to[index[i]] = from[i]. index: [rows]; for
// scatter_rows, without repetitions. Other rows don't change.
template <class T>
void gather_rows(Stream&, int rows, int columns, const T* from, const std::int32_t* index, T* to);
template <class T>
void scatter_rows(Stream&, int rows, int columns, const T* from, const std::int32_t* index, T* to);

}  // namespace starpo::cuda
