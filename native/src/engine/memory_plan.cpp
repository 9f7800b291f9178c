#include "engine/memory_plan.h"

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

namespace starpo {
namespace {

// Describes the settings that differ between `needs` and `changed` as an instruction.
std::string describe_change(const EngineNeeds& needs, const EngineNeeds& changed, const std::string& recompute) {
  std::vector<std::string> settings;
  if (changed.slots != needs.slots) settings.push_back("rollout.slots to " + std::to_string(changed.slots));
  if (changed.pass_tokens != needs.pass_tokens)
    settings.push_back("optimizer.micro_batch_tokens to " + std::to_string(changed.pass_tokens));
  if (changed.recompute != needs.recompute) settings.push_back("optimizer.recompute to " + recompute);
  if (changed.reads_start != needs.reads_start) settings.push_back("diagnostics.every to 0");
  std::string text;
  for (std::size_t i = 0; i < settings.size(); ++i)
    text += (i == 0 ? "set " : i + 1 == settings.size() ? " and " : ", ") + settings[i];
  return text;
}

}  // namespace

std::string setting_that_fits(const EngineNeeds& needs, const std::function<MemoryPlan(const EngineNeeds&)>& plan,
                              std::int64_t free_bytes) {
  constexpr std::array<const char*, 3> recompute_names{"none", "elementwise", "block"};
  const auto find_setting = [&](EngineNeeds changed) -> std::optional<std::string> {
    for (;; changed.slots /= 2) {
      for (int recompute = static_cast<int>(needs.recompute); recompute < static_cast<int>(recompute_names.size());
           ++recompute) {
        changed.recompute = static_cast<Recompute>(recompute);
        for (changed.pass_tokens = needs.pass_tokens;; changed.pass_tokens /= 2) {
          if (plan(changed).total_bytes() <= free_bytes)
            return describe_change(needs, changed, recompute_names[static_cast<std::size_t>(recompute)]);
          if (changed.pass_tokens / 2 < std::max(needs.context, 1)) break;
        }
      }
      if (changed.slots <= 1) return std::nullopt;
    }
  };
  if (!needs.trains_policy) return "close other programs that use the memory, or use a device with more memory";
  if (const auto setting = find_setting(needs)) return *setting;
  EngineNeeds without_diagnostics = needs;
  without_diagnostics.reads_start = false;
  if (const auto setting = find_setting(without_diagnostics)) return *setting;
  return "no value of optimizer.micro_batch_tokens, optimizer.recompute, rollout.slots or diagnostics.every fits: "
         "close other programs that use the memory, or use a smaller model, a smaller rollout.context, " +
         std::string(needs.trains_critic ? "critic.model head instead of full, " : "") + "or a device with more memory";
}

std::string memory_plan_json(const MemoryPlan& plan) {
  using Json = nlohmann::ordered_json;
  constexpr std::array lifetimes{"run", "rollout", "update"};
  Json parts = Json::array();
  for (const MemoryPart& part : plan.parts)
    parts.push_back(
        {{"name", part.name}, {"lifetime", lifetimes[static_cast<std::size_t>(part.lifetime)]}, {"bytes", part.bytes}});
  return Json{{"device", plan.device},
              {"device_bytes", plan.device_bytes},
              {"free_bytes", plan.free_bytes},
              {"total_bytes", plan.total_bytes()},
              {"parts", parts}}
      .dump();
}

}  // namespace starpo
