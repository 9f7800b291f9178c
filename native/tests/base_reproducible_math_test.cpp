#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/reproducible_math.h"

namespace starpo {

TEST_CASE("elementary functions are accurate") {
  for (double x = 1e-300; x < 1e300; x *= 17.3)
    CHECK(std::abs(reproducible_log(x) - std::log(x)) <= 1e-15 * std::abs(std::log(x)));
  for (double x = 0.5; x < 2; x += 0.0137) CHECK(reproducible_log(x) == doctest::Approx(std::log(x)).epsilon(1e-14));
  for (double x = -700; x < 700; x += 1.37) CHECK(std::abs(reproducible_exp(x) / std::exp(x) - 1) < 2e-15);
  for (double x = -1000; x < 40000; x += 7.31) {
    CHECK(std::abs(reproducible_sin(x) - std::sin(x)) < 1e-15);
    CHECK(std::abs(reproducible_cos(x) - std::cos(x)) < 1e-15);
  }
  CHECK(reproducible_log(1) == 0);
  CHECK(reproducible_log(0) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(reproducible_log(-1)));
  CHECK(std::isnan(reproducible_log(std::nan(""))));
}

}  // namespace starpo
