#include <doctest/doctest.h>

#include "base/philox.h"

using namespace starpo;

TEST_CASE("a uniform number is never 0 or 1 and increases with its bits") {
  CHECK(uniform_open(0) > 0);
  CHECK(uniform_open(0xffffffffu) < 1);
  CHECK(uniform_open(0xffffffffu) >= uniform_open(0xfffffeffu));
  CHECK(uniform_open(0x40000000u) < uniform_open(0x80000000u));
  CHECK(uniform_open(0x80000000u) == 0.5f);  // rounds to one half
}
