#include <numeric>

#include "engine/cuda/runtime/graph.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/cuda/selftest/check.h"
#include "engine/cuda/selftest/increment.h"

namespace starpo::cuda {
namespace {

constexpr int kCount = 1001;

std::vector<float> ascending_numbers(float from) {
  std::vector<float> values(kCount);
  std::iota(values.begin(), values.end(), from);
  return values;
}

double launches_and_copies(Stream& stream) {
  DeviceBuffer<float> values(stream, ascending_numbers(0));
  increment(stream, values.data(), kCount, 2);
  std::vector<float> result(kCount);
  values.download(stream, result);
  return result == ascending_numbers(2) ? 0 : 1;
}

double graph_replays(Stream& stream) {
  DeviceBuffer<float> values(stream, kCount);
  PinnedBuffer<float> result(kCount);
  values.fill_poison(stream);
  increment(stream, values.data(), kCount, 3);
  Graph graph(stream, [&] {
    increment(stream, values.data(), kCount, 3);
    copy_to_host(stream, result.data(), values.data(), values.size_bytes());
  });
  values.upload(stream, ascending_numbers(0));
  for (int i = 0; i < 5; ++i) graph.launch(stream);
  stream.synchronize();
  return std::vector<float>(result.span().begin(), result.span().end()) == ascending_numbers(15) ? 0 : 1;
}

}  // namespace

std::vector<Check> runtime_checks() {
  return {{"runtime launches and copies", kExact, launches_and_copies},
          {"runtime graph replays", kExact, graph_replays}};
}

}  // namespace starpo::cuda
