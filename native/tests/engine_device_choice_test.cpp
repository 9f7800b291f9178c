#include <doctest/doctest.h>

#include <vector>

#include "base/error.h"
#include "error_code.h"
#include "engine/device_choice.h"

using namespace starpo;

namespace {

const std::vector<DeviceFacts> gpus{{"cuda:0", "Old", false, "compute capability 7.5 is below 8.0"}, {"cuda:1", "New", true, ""}};

std::string refusal(const std::string& wanted, const std::vector<DeviceFacts>& found) {
  try {
    choose_device(wanted, found, "there is no driver");
  } catch (const Error& error) {
    CHECK(error.code() == "device_unavailable");
    CHECK_FALSE(error.hint().empty());
    return error.what();
  }
  FAIL(wanted << " was found");
  return {};
}

}  // namespace

TEST_CASE("a device is chosen by its name, or the first that can be used") {
  CHECK(choose_device("cpu", gpus, "").id == "cpu");
  CHECK_FALSE(choose_device("cpu", gpus, "").name.empty());
  CHECK(choose_device("auto", gpus, "").id == "cuda:1");
  CHECK(choose_device("cuda", gpus, "").name == "New");
  CHECK(choose_device("cuda:1", gpus, "").id == "cuda:1");
  CHECK(choose_device("auto", {}, "").id == "cpu");
}

TEST_CASE("a device that can't be used is refused with the reason") {
  CHECK(refusal("cuda", {}).ends_with("there is no driver"));
  CHECK(refusal("cuda:0", {}).ends_with("there is no driver"));
  CHECK(refusal("cuda:0", gpus).ends_with("compute capability 7.5 is below 8.0"));
  CHECK(refusal("cuda:2", gpus).ends_with("the last GPU is cuda:1"));
  CHECK(refusal("cuda", {gpus[0]}).ends_with("cuda:0 (Old): compute capability 7.5 is below 8.0"));
}
