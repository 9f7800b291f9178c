#include "cli/commands.h"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "engine/cpu/self_test.h"
#include "engine/cuda/choose_gpu.h"
#include "engine/cuda/selftest/self_test.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

void print_json(const CheckResult& result) {
  const Json line{{"name", result.name},
                  {"error", std::isfinite(result.error) ? Json(result.error) : Json(nullptr)},
                  {"tolerance", result.tolerance},
                  {"ok", result.ok},
                  {"failure", result.failure.empty() ? Json(nullptr) : Json(result.failure)}};
  std::cout << line.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n" << std::flush;
}

std::string row_text(const char* verdict, const std::string& name, const std::string& error,
                     const std::string& tolerance) {
  char row[200];
  std::snprintf(row, sizeof row, "%-6s  %-60s  %9s  %9s\n", verdict, name.c_str(), error.c_str(), tolerance.c_str());
  return row;
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", number);
  return text;
}

void print_row(const CheckResult& result) {
  std::cout << row_text(result.ok ? "ok" : "FAILED", result.name, number_text(result.error),
                        number_text(result.tolerance));
  if (!result.failure.empty()) std::cout << "        " << result.failure << "\n";
  std::cout << std::flush;
}

}  // namespace

int self_test_command(const std::string& device, const std::string& filter, bool json) {
  const auto gpu = choose_gpu(device);
  int passed = 0, failed = 0;
  const auto on_result = [&](const CheckResult& result) {
    if (!json && passed + failed == 0) std::cout << row_text("", "operation", "error", "tolerance");
    (result.ok ? passed : failed) += 1;
    json ? print_json(result) : print_row(result);
  };
  if (gpu)
    cuda::self_test(gpu->index, filter, on_result);
  else
    cpu_self_test(filter, on_result);
  if (passed + failed == 0)
    throw Error("check_unknown", "no check matches '" + filter + "'",
                "run selftest without --filter to list the checks");
  const std::string name = gpu ? "cuda:" + std::to_string(gpu->index) : "cpu";
  if (json)
    std::cout << Json{{"device", name}, {"passed", passed}, {"failed", failed}}.dump() << "\n";
  else
    std::cout << name << ": " << passed << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace starpo
