#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "engine/cuda/engine/memory_plan.h"
#include "vectors.h"

using namespace starpo;
using nlohmann::json;

// The app estimates the memory of a run with its own formula, and its test reads the same file.
TEST_CASE("memory plans of published models match the app's estimates") {
  const json plans = read_vectors("memory-plans.json", "plans");
  for (const json& each : plans) {
    CAPTURE(each.at("model").get<std::string>());
    EngineNeeds needs{.model = parse_model_config(each.at("shape").dump(), "memory-plans.json")};
    needs.trains_policy = true;
    needs.trains_critic = each.at("critic");
    needs.reads_reference = each.at("reference");
    needs.reads_start = each.at("start");
    needs.slots = each.at("slots");
    needs.groups = each.at("groups");
    needs.context = each.at("context");
    needs.pass_tokens = each.at("micro_batch_tokens");
    const std::string recompute = each.at("recompute");
    needs.recompute = recompute == "none"          ? Recompute::none
                      : recompute == "elementwise" ? Recompute::elementwise
                                                   : Recompute::block;
    json parts = json::object();
    for (const MemoryPart& part : cuda::plan_memory<cuda::Bf16>(needs).parts) parts[part.name] = part.bytes;
    CHECK(parts == each.at("parts"));
  }
}
