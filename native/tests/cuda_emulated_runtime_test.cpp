// Tests streams, graphs and memory of the emulation, and conversions that both compilers use.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "engine/cuda/emulated/device.h"
#include "engine/cuda/portable/cuda.h"
#include "engine/cuda/runtime/graph.h"
#include "engine/cuda/selftest/arrays.h"

using namespace starpo::cuda;

namespace {

__global__ void increase(float* values, int count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < static_cast<unsigned>(count)) values[i] += 1;
}

// Only one test may launch this kernel, because the test needs a kernel that was never loaded.
__global__ void write_once(float* values) {
  if (threadIdx.x < 4) values[threadIdx.x] = 7;
}

}  // namespace

TEST_CASE("emulated runtime: a graph runs its work at each launch") {
  Stream stream;
  DeviceBuffer<float> values(stream, 5);
  PinnedBuffer<float> host(5);
  values.fill_zero(stream);
  STARPO_LAUNCH(stream, 1, 32, 0, increase, values.data(), 0);
  Graph graph(stream, [&] {
    STARPO_LAUNCH(stream, 1, 32, 0, increase, values.data(), 5);
    copy_to_host(stream, host.data(), values.data(), values.size_bytes());
  });
  CHECK(on_host(stream, values) == std::vector<float>(5, 0.0f));
  graph.launch(stream);
  graph.launch(stream);
  stream.synchronize();
  CHECK(host[4] == 2.0f);
}

TEST_CASE("emulated runtime: a kernel must be launched once before it is captured") {
  Stream stream;
  DeviceBuffer<float> output(stream, 4);
  const auto record = [&] { Graph graph(stream, [&] { STARPO_LAUNCH(stream, 1, 32, 0, write_once, output.data()); }); };
  CHECK_THROWS_WITH_AS(
      record(), "launch of write_once: a kernel must run before it is captured, because its first launch loads it",
      std::logic_error);
  STARPO_LAUNCH(stream, 1, 32, 0, write_once, output.data());
  record();
  CHECK(on_host(stream, output) == std::vector<float>(4, 7.0f));
}

TEST_CASE("emulated runtime: allocations beyond the device memory fail") {
  Stream stream;
  emulated::set_device_memory(1000);
  std::string code;
  try {
    DeviceBuffer<float> buffer(stream, 251);
  } catch (const starpo::Error& error) {
    code = error.code();
  }
  CHECK(code == "gpu_out_of_memory");
  {
    DeviceBuffer<float> buffer(stream, 250);
    CHECK(device_memory(0).free_bytes == 0);
    std::vector<float> larger(251);
    CHECK_THROWS_AS(buffer.upload(stream, larger), std::out_of_range);
  }
  CHECK(device_memory(0).free_bytes == 1000);
  emulated::set_device_memory(emulated::kDefaultDeviceMemory);
}

TEST_CASE("bf16 rounds to nearest, ties to even, and keeps non-finite values") {
  CHECK(from_float<Bf16>(1.0f).bits == 0x3f80);
  CHECK(from_float<Bf16>(1.00390625f).bits == 0x3f80);    // a tie: down to even
  CHECK(from_float<Bf16>(1.01171875f).bits == 0x3f82);    // a tie: up to even
  CHECK(from_float<Bf16>(1.0039063692f).bits == 0x3f81);  // slightly above a tie
  CHECK(from_float<Bf16>(3.4e38f).bits == 0x7f80);
  CHECK(from_float<Bf16>(-INFINITY).bits == 0xff80);
  CHECK(std::isnan(to_float(from_float<Bf16>(std::bit_cast<float>(0x7f800001u)))));
  CHECK(pack_bf16(1.0f, -2.0f) == 0xc0003f80u);
}
