#include "engine/memory_plan.h"

#include <array>
#include <nlohmann/json.hpp>

namespace starpo {

std::string memory_plan_json(const MemoryPlan& plan) {
  using Json = nlohmann::ordered_json;
  constexpr std::array lifetimes{"run", "rollout", "update"};
  Json parts = Json::array();
  for (const MemoryPart& part : plan.parts)
    parts.push_back({{"name", part.name}, {"lifetime", lifetimes[static_cast<std::size_t>(part.lifetime)]}, {"bytes", part.bytes}});
  return Json{{"device", plan.device}, {"device_bytes", plan.device_bytes}, {"free_bytes", plan.free_bytes}, {"total_bytes", plan.total_bytes()}, {"parts", parts}}.dump();
}

}  // namespace starpo
