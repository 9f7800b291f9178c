#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/philox.h"
#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/cuda/selftest/check.h"

// Random inputs of checks, and transfers between host and device.
namespace starpo::cuda {

// Tolerance of results that are rounded to bf16 once. The error of the rounding is 1.3e-6.
constexpr double kRoundingTolerance = 1e-5;

template <class T>
constexpr bool kIsBf16 = sizeof(T) == 2;
template <class T>
std::string type_name() {
  return kIsBf16<T> ? " bf16 " : " fp32 ";
}
template <class T>
constexpr double kElementwiseTolerance = kIsBf16<T> ? kRoundingTolerance : kFp32Tolerance;

// Returns uniform random numbers in (-scale, scale), rounded to T.
template <class T = float>
std::vector<T> random_numbers(std::size_t count, std::uint32_t seed, float scale = 1) {
  const Philox random{seed, RandomStream::initial_weights};
  std::vector<T> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] =
        from_float<T>((2 * uniform_open(random(0, 0, static_cast<std::uint32_t>(i / 4), 0)[i % 4]) - 1) * scale);
  return numbers;
}

// Returns random integers in [0, below), with repetitions.
inline std::vector<std::int32_t> random_indices(std::size_t count, std::uint32_t seed, int below) {
  std::vector<std::int32_t> indices;
  for (const float number : random_numbers(count, seed))
    indices.push_back(std::min(below - 1, static_cast<int>((number + 1) / 2 * static_cast<float>(below))));
  return indices;
}

template <class T>
std::vector<double> doubles(const std::vector<T>& numbers) {
  std::vector<double> result;
  for (const T number : numbers) result.push_back(to_float(number));
  return result;
}

template <class T>
DeviceBuffer<T> on_device(Stream& stream, const std::vector<T>& values) {
  return DeviceBuffer<T>(stream, values);
}

template <class T>
DeviceBuffer<T> poisoned(Stream& stream, std::size_t count) {
  DeviceBuffer<T> buffer(stream, count);
  buffer.fill_poison(stream);
  return buffer;
}

template <class T>
std::vector<T> on_host(Stream& stream, const DeviceBuffer<T>& buffer) {
  std::vector<T> values(buffer.size());
  buffer.download(stream, values);
  return values;
}

template <class T>
double error_of(Stream& stream, const DeviceBuffer<T>& computed, const std::vector<double>& reference) {
  return normalized_mean_square_error(doubles(on_host(stream, computed)), reference);
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace starpo::cuda
