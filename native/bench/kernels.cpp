#include "kernels.h"

#include <cmath>
#include <stdexcept>

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

// Three digits are enough, and keep the file small.
double rounded(double value, double unit) { return std::round(value / unit) * unit; }

}  // namespace

ModelConfig timed_shape(const std::string& name) {
  if (name == "0.5b") return {151936, 896, 4864, 24, 14, 2, 64, 32768, 1e6f, 1e-6f, true};
  if (name == "1.5b") return {151936, 1536, 8960, 28, 12, 2, 128, 32768, 1e6f, 1e-6f, true};
  if (name == "tiny") return {88, 72, 104, 2, 6, 2, 16, 512, 1000, 1e-6f, true};
  throw std::invalid_argument("unknown shape " + name);
}

Json to_json(const cuda::KernelTimes& measured, const std::string& shape) {
  Json kernels = Json::array();
  for (const cuda::KernelTime& time : measured.times) {
    Json entry{{"kernel", time.kernel}, {"rows", time.rows}};
    if (!time.plan.empty()) {
      entry["n"] = time.n;
      entry["k"] = time.k;
      entry["plan"] = time.plan;
      if (time.chosen) entry["chosen"] = true;
    }
    entry["microseconds"] = rounded(time.microseconds, 0.01);
    entry["bytes"] = time.bytes;
    if (time.operations > 0) entry["operations"] = time.operations;
    entry["share_of_ceiling"] = rounded(measured.share_of_ceiling(time), 0.001);
    kernels.push_back(std::move(entry));
  }
  return {{"shape", shape},
          {"device_name", measured.device_name},
          {"multiprocessors", measured.multiprocessors},
          {"library", measured.library.empty() ? Json(nullptr) : Json(measured.library)},
          {"ceilings",
           {{"bytes_per_second", measured.ceilings.bytes_per_second},
            {"operations_per_second", measured.ceilings.operations_per_second}}},
          {"kernels", kernels}};
}

}  // namespace starpo
