#include <doctest/doctest.h>

#include <cmath>

#include "engine/cpu/self_test.h"
#include "engine/cuda/emulated/order.h"
#include "engine/cuda/selftest/self_test.h"

using namespace starpo;

TEST_CASE("every device check passes in the emulation") {
  // The tests of each kernel family run the other thread orders, and cuda_engine_test.cpp those of the engine.
  cuda::emulated::set_order(4);
  int count = 0;
  cuda::self_test(0, "", [&](const CheckResult& result) {
    CAPTURE(result.name);
    CAPTURE(result.error);
    CAPTURE(result.failure);
    CHECK(result.ok);
    ++count;
  });
  CHECK(count == static_cast<int>(cuda::every_check().size()));
  CHECK(count >= 2);
  cuda::emulated::set_order(0);
}

TEST_CASE("every CPU check passes") {
  int count = 0;
  cpu_self_test("", [&](const CheckResult& result) {
    CAPTURE(result.name);
    CAPTURE(result.error);
    CHECK(result.ok);
    ++count;
  });
  CHECK(count >= 2);
}

TEST_CASE("a check fails on a large error, on NaN and on an exception; the next check runs") {
  const std::vector<cuda::Check> checks{
      {"a close", 1e-3, [](cuda::Stream&) { return 1e-4; }},
      {"a far", 1e-3, [](cuda::Stream&) { return 1e-2; }},
      {"b not a number", 1e-3, [](cuda::Stream&) { return std::nan(""); }},
      {"a throwing", 1e-3, [](cuda::Stream&) -> double { throw std::runtime_error("no memory"); }},
      {"a equal", 0, [](cuda::Stream&) { return 0.0; }}};
  cuda::Stream stream;
  std::string seen;
  const auto on_result = [&](const CheckResult& result) {
    seen +=
        result.name + (result.ok ? " ok" : " failed") + (result.failure.empty() ? "" : ": " + result.failure) + "\n";
  };
  cuda::run_checks(checks, "", stream, on_result);
  CHECK(seen == "a close ok\na far failed\nb not a number failed\na throwing failed: no memory\na equal ok\n");
  seen.clear();
  cuda::run_checks(checks, "b ", stream, on_result);
  CHECK(seen == "b not a number failed\n");
}

TEST_CASE("the normalized error of NaN values is NaN") {
  const std::vector<float> poisoned{1, NAN};
  CHECK(std::isnan(normalized_mean_square_error(poisoned, std::vector<double>{1, 2})));
  CHECK(normalized_mean_square_error(std::vector<float>{3, 3}, std::vector<double>{3, 4}) == doctest::Approx(1.0 / 25));
  CHECK(normalized_mean_square_error(std::vector<float>{0, 1}, std::vector<double>{0, 0}) == 1.0);
}
