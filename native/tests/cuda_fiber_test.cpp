// Tests that the emulation's barriers, shuffles, tensor cores and asynchronous copies follow the PTX ISA, and that it
// detects errors in kernels.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "engine/cuda/emulated/device.h"
#include "engine/cuda/emulated/order.h"
#include "engine/cuda/portable/tensor_core.h"
#include "engine/cuda/portable/warp.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/cuda/selftest/arrays.h"

using namespace starpo::cuda;

namespace {

constexpr unsigned kOrders = 8;

// Calls body in every order, then resets the order to the first.
template <class Body>
void in_every_order(Body body) {
  for (unsigned order = 0; order < kOrders; ++order) {
    CAPTURE(order);
    emulated::set_order(order);
    body();
  }
  emulated::set_order(0);
}

__global__ void add_one(float* values, int count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < static_cast<unsigned>(count)) values[i] += 1;
}

// One block per row, several elements per thread.
__global__ void softmax(const float* input, float* output, int columns) {
  STARPO_SHARED(float, scratch[32]);
  const float* row = input + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(columns);
  float largest = -INFINITY;
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += static_cast<int>(blockDim.x))
    largest = fmaxf(largest, row[i]);
  largest = block_max(largest, scratch);
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += static_cast<int>(blockDim.x))
    sum += expf(row[i] - largest);
  sum = block_sum(sum, scratch);
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += static_cast<int>(blockDim.x))
    output[static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(i)] =
        expf(row[i] - largest) / sum;
}

// c [16, 8] = a [16, k] b [k, 8], or a b^T with b [8, k]. One warp, two stages of 16 columns.
template <bool b_is_transposed>
__global__ void tile_product(const Bf16* a, const Bf16* b, float* c, int k) {
  STARPO_DYNAMIC_SHARED(Bf16, shared);
  constexpr int stage_size = 16 * 16 + 16 * 8;
  const int lane = lane_index();
  const auto load = [&](int step) {
    Bf16* const stage = shared + step % 2 * stage_size;
    const bool valid = step * 16 < k;
    const int column = valid ? step * 16 : 0;
    cp_async_16(stage + lane * 8, a + lane / 2 * k + column + lane % 2 * 8, valid);
    if (lane < 16) {
      const Bf16* source = b_is_transposed ? b + lane / 2 * k + column + lane % 2 * 8 : b + (column + lane) * 8;
      cp_async_16(stage + 256 + lane * 8, source, valid);
    }
    cp_async_commit();
  };
  float d[4] = {};
  load(0);
  for (int step = 0; step * 16 < k; ++step) {
    load(step + 1);
    cp_async_wait<1>();
    __syncwarp();
    const Bf16* const stage = shared + step % 2 * stage_size;
    unsigned af[4], loaded[4];
    ldmatrix_x4(af, stage + (lane % 16) * 16 + lane / 16 * 8);
    if constexpr (b_is_transposed)
      ldmatrix_x4(loaded, stage + 256 + (lane % 8) * 16 + lane / 8 % 2 * 8);
    else
      ldmatrix_x4_trans(loaded, stage + 256 + (lane % 16) * 8);
    const unsigned bf[2] = {loaded[0], loaded[1]};
    mma_m16n8k16(d, af, bf);
    __syncwarp();
  }
  for (int i = 0; i < 4; ++i) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}

// Reverses the values of a block. Without the barrier, a thread may read a value that isn't written yet.
template <bool with_barrier>
__global__ void reverse(const float* input, float* output) {
  STARPO_SHARED(float, values[64]);
  values[threadIdx.x] = input[threadIdx.x];
  if constexpr (with_barrier) __syncthreads();
  output[threadIdx.x] = values[63 - threadIdx.x];
}

// Without a barrier at the end of a round, the next round may overwrite values that a slower warp has not read yet.
template <bool with_second_barrier>
__global__ void rounds(float* output) {
  STARPO_SHARED(float, total);
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) total = static_cast<float>(round + 1);
    __syncthreads();
    output[round * 64 + static_cast<int>(threadIdx.x)] = total;
    if constexpr (with_second_barrier) __syncthreads();
  }
}

__global__ void copy_without_waiting(const float* input, float* output) {
  STARPO_SHARED(float, values[128]);
  cp_async_16(values + threadIdx.x * 4, input + threadIdx.x * 4, true);
  cp_async_commit();
  for (int i = 0; i < 4; ++i) output[threadIdx.x * 4 + i] = values[threadIdx.x * 4 + i];
}

__global__ void divergent_barrier(int returning) {
  if (static_cast<int>(threadIdx.x) >= returning) return;
  __syncthreads();
}

__global__ void divergent_warp(float* output) {
  if (threadIdx.x % 32 < 16)
    output[threadIdx.x] = __shfl_sync(kAllLanes, 1.0f, 0);
  else
    output[threadIdx.x] = static_cast<float>(__ballot_sync(kAllLanes, 1));
}

__global__ void half_mask() { __shfl_xor_sync(0xffffu, 1, 1); }

__global__ void misaligned(const float* input) {
  STARPO_DYNAMIC_SHARED(float, shared);
  cp_async_16(shared, input + 1, true);
}

__global__ void warp_functions(int* output) {
  const int lane = lane_index();
  int* const row = output + blockIdx.y * 4 * 32;
  row[0 * 32 + lane] = __shfl_sync(kAllLanes, lane * 3, 5);
  row[1 * 32 + lane] = __shfl_xor_sync(kAllLanes, lane, 3);
  row[2 * 32 + lane] = static_cast<int>(__ballot_sync(kAllLanes, lane % 3 == 0));
  row[3 * 32 + lane] = static_cast<int>(blockIdx.x + 10 * blockIdx.y + 100 * gridDim.x + 1000 * gridDim.y);
}

__global__ void find_maximum(unsigned* largest) { atomicMax(largest, threadIdx.x + 100 * blockIdx.x); }

#ifdef __SANITIZE_ADDRESS__
__global__ void fill_shared() {
  STARPO_DYNAMIC_SHARED(float, shared);
  shared[threadIdx.x] = 1;
  __syncthreads();
}
#endif

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const emulated::KernelError& error) {
    return error.what();
  }
  return "nothing was found";
}

}  // namespace

TEST_CASE("emulated kernels: barriers and shuffles compute a softmax in every order") {
  constexpr int rows = 3, columns = 77;
  const auto input = random_numbers(rows * columns, 1);
  std::vector<double> expected;
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int i = 0; i < columns; ++i)
      sum += std::exp(static_cast<double>(input[static_cast<std::size_t>(row * columns + i)]));
    for (int i = 0; i < columns; ++i)
      expected.push_back(std::exp(static_cast<double>(input[static_cast<std::size_t>(row * columns + i)])) / sum);
  }
  Stream stream;
  DeviceBuffer<float> device_input(stream, input), output(stream, input.size());
  std::vector<float> first;
  in_every_order([&] {
    output.fill_poison(stream);
    STARPO_LAUNCH(stream, rows, 64, 0, softmax, device_input.data(), output.data(), columns);
    const auto result = on_host(stream, output);
    CHECK(normalized_mean_square_error(result, expected) < 1e-12);
    if (first.empty()) first = result;
    CHECK(result == first);
  });
}

TEST_CASE("emulated kernels: ldmatrix, cp.async and mma compute a product of tiles") {
  constexpr int k = 80;
  const auto rounded_a = random_numbers<Bf16>(16 * k, 2), rounded_b = random_numbers<Bf16>(8 * k, 3);
  Stream stream;
  DeviceBuffer<Bf16> device_a(stream, rounded_a), device_b(stream, rounded_b);
  DeviceBuffer<float> c(stream, 16 * 8);
  const auto check = [&](auto kernel, bool transposed) {
    std::vector<double> expected;
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        double sum = 0;
        for (int i = 0; i < k; ++i)
          sum += static_cast<double>(to_float(rounded_a[static_cast<std::size_t>(row * k + i)])) *
                 static_cast<double>(
                     to_float(rounded_b[static_cast<std::size_t>(transposed ? column * k + i : i * 8 + column)]));
        expected.push_back(sum);
      }
    in_every_order([&] {
      c.fill_poison(stream);
      STARPO_LAUNCH(stream, 1, 32, 2 * (16 * 16 + 16 * 8) * sizeof(Bf16), (kernel), device_a.data(), device_b.data(),
                    c.data(), k);
      CHECK(normalized_mean_square_error(on_host(stream, c), expected) < 1e-12);
    });
  };
  check(tile_product<true>, true);
  check(tile_product<false>, false);
}

TEST_CASE("emulated kernels: warp functions and two-dimensional grids follow the PTX ISA") {
  Stream stream;
  DeviceBuffer<int> output(stream, 2 * 4 * 32);
  in_every_order([&] {
    output.fill_poison(stream);
    STARPO_LAUNCH(stream, dim3(1, 2), 32, 0, warp_functions, output.data());
    const auto values = on_host(stream, output);
    bool equal = true;
    for (int block = 0; block < 2; ++block)
      for (int lane = 0; lane < 32; ++lane) {
        const int expected[4] = {15, lane ^ 3, 0x49249249, 10 * block + 100 + 2000};
        for (int i = 0; i < 4; ++i)
          equal = equal && values[static_cast<std::size_t>((block * 4 + i) * 32 + lane)] == expected[i];
      }
    CHECK(equal);
  });
}

TEST_CASE("emulated kernels: an atomic maximum covers every thread") {
  Stream stream;
  DeviceBuffer<unsigned> largest(stream, 1);
  in_every_order([&] {
    largest.fill_zero(stream);
    STARPO_LAUNCH(stream, 5, 64, 0, find_maximum, largest.data());
    CHECK(on_host(stream, largest)[0] == 463);
  });
}

TEST_CASE("emulated kernels: a missing barrier changes the result in some order") {
  Stream stream;
  const auto input = random_numbers(64, 4);
  const std::vector<float> reversed(input.rbegin(), input.rend());
  DeviceBuffer<float> device_input(stream, input), output(stream, 64);
  DeviceBuffer<float> two_rounds(stream, 128);
  std::vector<float> one_then_two(128, 2.0f);
  std::fill_n(one_then_two.begin(), 64, 1.0f);
  const auto orders_with_errors = [&](const DeviceBuffer<float>& buffer, const std::vector<float>& expected,
                                      auto launch) {
    int wrong = 0;
    in_every_order([&] {
      launch();
      wrong += on_host(stream, buffer) != expected;
    });
    return wrong;
  };
  CHECK(orders_with_errors(output, reversed, [&] {
          STARPO_LAUNCH(stream, 1, 64, 0, reverse<true>, device_input.data(), output.data());
        }) == 0);
  CHECK(orders_with_errors(output, reversed, [&] {
          STARPO_LAUNCH(stream, 1, 64, 0, reverse<false>, device_input.data(), output.data());
        }) == kOrders);
  CHECK(orders_with_errors(two_rounds, one_then_two,
                           [&] { STARPO_LAUNCH(stream, 1, 64, 0, rounds<true>, two_rounds.data()); }) == 0);
  CHECK(orders_with_errors(two_rounds, one_then_two,
                           [&] { STARPO_LAUNCH(stream, 1, 64, 0, rounds<false>, two_rounds.data()); }) > 0);
}

TEST_CASE("emulated kernels: a missing wait for an asynchronous copy changes the result in some order") {
  Stream stream;
  const auto input = random_numbers(128, 5);
  DeviceBuffer<float> device_input(stream, input), output(stream, 128);
  int wrong = 0;
  in_every_order([&] {
    STARPO_LAUNCH(stream, 1, 32, 0, copy_without_waiting, device_input.data(), output.data());
    wrong += on_host(stream, output) != input;
  });
  CHECK(wrong > 0);
}

TEST_CASE("emulated kernels: errors report kernel, block and threads") {
  Stream stream;
  DeviceBuffer<float> buffer(stream, 64);
  in_every_order([&] {
    CHECK(message_of([&] { STARPO_LAUNCH(stream, 1, 64, 0, divergent_barrier, 40); }) ==
          "kernel divergent_barrier, block (0, 0, 0): deadlock, because not all of 64 threads reached the same "
          "barrier: 40 "
          "wait at __syncthreads, 0 for the lanes "
          "of their warp, 24 have returned");
    CHECK(message_of([&] {
            STARPO_LAUNCH(stream, 1, 64, 0, divergent_warp, buffer.data());
          }).find("have diverged: some are at __") != std::string::npos);
    CHECK(message_of([&] {
            STARPO_LAUNCH(stream, 1, 32, 0, half_mask);
          }).find("__shfl_xor_sync with a mask of fewer than 32 lanes") != std::string::npos);
    CHECK(message_of([&] {
            STARPO_LAUNCH(stream, 1, 16, 0, warp_functions, nullptr);
          }).find("in a warp of fewer than 32 threads") != std::string::npos);
    CHECK(message_of([&] { STARPO_LAUNCH(stream, 1, 32, 16, misaligned, buffer.data()); }).find("multiples of 16") !=
          std::string::npos);
    CHECK(message_of([&] { STARPO_LAUNCH(stream, 0, 32, 0, half_mask); }) == "launch of half_mask: invalid grid");
    // After these errors, kernels still run.
    buffer.fill_zero(stream);
    STARPO_LAUNCH(stream, 2, 32, 0, add_one, buffer.data(), 64);
    CHECK(on_host(stream, buffer) == std::vector<float>(64, 1.0f));
  });
}

#ifdef __SANITIZE_ADDRESS__
TEST_CASE("emulated kernels: AddressSanitizer detects accesses beyond shared and device memory") {
  const auto aborts = [](const std::function<void(Stream&)>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(STDERR_FILENO);
      Stream stream;
      work(stream);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  };
  CHECK_FALSE(aborts([](Stream& stream) { STARPO_LAUNCH(stream, 1, 64, 64 * sizeof(float), fill_shared); }));
  CHECK(aborts([](Stream& stream) { STARPO_LAUNCH(stream, 1, 64, 63 * sizeof(float), fill_shared); }));
  DeviceBuffer<float> values(stream, 63);
  CHECK(aborts([&](Stream& stream) { STARPO_LAUNCH(stream, 1, 64, 0, add_one, values.data(), 64); }));
}
#endif
