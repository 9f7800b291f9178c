#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "golden.h"
#include "repository.h"

using namespace starpo;

// Whatever files are there: each was written by another implementation, in double precision.
TEST_CASE("the engine computes what PyTorch computed: logits, log-probabilities, gradients, three optimiser steps") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::repository() / "native/tests/goldens"))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  REQUIRE_FALSE(files.empty());
  ThreadPool pool(2);
  for (const std::string device : {"cpu", "cuda:0"})
    for (const auto& file : files) {
      CAPTURE(device);
      CAPTURE(file.filename().string());
      const auto engine = make_engine({device, Precision::fp32}, pool);
      const auto errors = compare_with_golden(file, *engine, pool).relative;
      CHECK(errors.size() == (device == "cpu" ? 9 : 8));  // a GPU's logits don't leave it
      for (const auto& [kind, error] : errors) {
        CAPTURE(kind);
        // A weight's change after AdamW has a sign's precision where its gradient is all but 0.
        CHECK(error < (kind == "weight_changes" ? 1e-3 : 1e-5));
      }
    }
}
