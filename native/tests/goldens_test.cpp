#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "golden.h"
#include "repository.h"

using namespace starpo;

// Each file was written by another implementation in double precision.
TEST_CASE("logits, log-probabilities, gradients and three optimizer steps match PyTorch's") {
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
      CHECK(errors.size() == (device == "cpu" ? 9 : 8));  // logits are not available on a GPU
      for (const auto& [kind, error] : errors) {
        CAPTURE(kind);
        // If the gradient is nearly 0, the change of a weight by AdamW depends only on its sign.
        CHECK(error < (kind == "weight_changes" ? 1e-3 : 1e-5));
      }
    }
}
