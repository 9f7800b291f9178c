#include <doctest/doctest.h>

#include "../fuzz/targets.h"
#include "repository.h"
#include "temporary_folder.h"

TEST_CASE("all fuzz corpora are parsed without a finding") {
  for (const auto& target : starpo::fuzz::targets()) {
    CAPTURE(target.name);
    int inputs = 0;
    for (const auto& file :
         std::filesystem::directory_iterator(starpo::test::repository() / "native/fuzz/corpora" / target.name)) {
      CAPTURE(file.path());
      CHECK_NOTHROW(target.run(read_text(file.path())));
      ++inputs;
    }
    CHECK(inputs > 0);
  }
}
