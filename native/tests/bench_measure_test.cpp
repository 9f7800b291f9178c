#include <doctest/doctest.h>

#include <set>
#include <utility>

#include "measure.h"

using namespace starpo;

namespace {

// Generates three tokens 7 per call, and shares prompts until it is reset, as a real generator does.
class RememberingGenerator final : public Generator {
 public:
  int slots() const override { return 4; }
  int context() const override { return 16; }
  void reset() override { remembered_.clear(); }
  void begin(int, std::span<const std::int32_t> prompt, int group, std::uint32_t) override {
    computed += remembered_.insert({group, {prompt.begin(), prompt.end()}}).second;
  }
  void append(int, std::span<const std::int32_t>) override {}
  void end(int) override {}
  void generate(std::span<const ResponseRequest> requests, const DrawSettings&,
                std::vector<std::vector<Choice>>& choices) override {
    choices.assign(requests.size(), {});
    for (std::size_t i = 0; i < requests.size(); ++i) choices[i].assign(std::min(3, requests[i].limit), {7, -1, 1});
  }

  int computed = 0;  // prompts

 private:
  std::set<std::pair<int, std::vector<std::int32_t>>> remembered_;
};

}  // namespace

TEST_CASE("every measured rollout computes the prompt of every group") {
  const Workload work = make_workload(32, {.groups = 2, .group_size = 2, .prompt = 6, .sampled = 7});
  RememberingGenerator generator;
  for (std::uint32_t repeat = 0; repeat < 3; ++repeat) {
    SampledResponse first;
    time_rollout(generator, work, repeat, first);
    CHECK(first.ids == std::vector<std::int32_t>(7, 7));
    CHECK(generator.computed == 2 * static_cast<int>(repeat + 1));
  }
}
