#include "config/run_config.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "config/describe_run_config.h"
#include "fields/field_reader.h"
#include "env/registry.h"
#include "journal/metric_names.h"

namespace starpo {
namespace {

constexpr int newest_version = 1;

void refuse_newer_version(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("version") || !json["version"].is_number()) return;
  if (json["version"].get<double>() <= newest_version) return;
  throw Error("config_version_unsupported", "version: the configuration has version " + json["version"].dump() + ", this trainer reads up to " + std::to_string(newest_version),
              "use a newer StarPO Studio to start this run");
}

}  // namespace

RunConfig parse_run_config(std::string_view json) {
  refuse_newer_version(json);
  RunConfig config;
  read_fields(json, "config_unreadable", [&](FieldVisitor& visitor) { describe(visitor, config); });
  return config;
}

RunConfig read_run_config(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw Error("config_missing", "there is no configuration " + file.string(), "make the run with `npm run starpo -- new PRESET`, or check the path");
  const auto unreadable = [&] { return Error("config_unreadable", "the configuration " + file.string() + " can't be read", "check that it is a file and its permissions"); };
  if (!std::filesystem::is_regular_file(file, error)) throw unreadable();
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!stream || (std::filesystem::file_size(file, error) > 0 && !(text << stream.rdbuf()))) throw unreadable();
  return parse_run_config(text.str());
}

std::vector<std::string> run_config_warnings(const RunConfig& config) {
  std::vector<std::string> warnings;
  const auto& rollout = config.rollout;
  if (rollout.max_response_tokens >= rollout.context)
    warnings.push_back("rollout.context leaves no room for rollout.max_response_tokens: no prompt would fit, so training ends with context_too_small");
  if (config.device == "cpu" && config.exactness == Exactness::fast) warnings.push_back("exactness fast changes nothing on the device cpu: a processor is always exact");
  if (config.device == "cpu" && config.optimizer.recompute != Recompute::none)
    warnings.push_back("optimizer.recompute saves nothing on the device cpu: a processor keeps everything");
  if (config.task == Task::warm_start) return warnings;
  if (rollout.top_p < 1 || rollout.top_k > 0 || rollout.min_p > 0)
    warnings.push_back("rollout.top_p, top_k or min_p cut the distribution that is sampled from, but log-probabilities are those of the whole one: the update is biased");
  if (rollout.group_size == 1 && config.advantage.estimator != AdvantageEstimator::rloo && config.advantage.estimator != AdvantageEstimator::gae)
    warnings.push_back("rollout.group_size is 1: advantages compare an episode with its group, so nothing will be learned");
  if (config.filter.strategy != FilterStrategy::none && config.filter.keep == 0) warnings.push_back("filter.keep is 0: the filter keeps no more than it must");
  if (config.optimizer.learning_rate == 0) warnings.push_back("optimizer.learning_rate is 0: the policy stays as it is");
  if (config.critic.model != CriticModel::none && config.critic.learning_rate == 0) warnings.push_back("critic.learning_rate is 0: the critic expects nothing, so advantages are returns");
  if (config.critic.model != CriticModel::none && config.critic.warmup >= config.iterations) warnings.push_back("critic.warmup is not below iterations: the policy is never trained");
  if (config.kl.coefficient > 0 && config.kl.placement == KlPlacement::loss && config.kl.estimator == KlEstimator::k1)
    warnings.push_back("kl.estimator k1 in the loss has a gradient of 0 on average, so it pulls nowhere: take k2 or k3, or kl.placement reward");
  return warnings;
}

std::string run_config_schema() {
  using Json = nlohmann::ordered_json;
  RunConfig config;
  Json schema;
  schema["version"] = newest_version;
  schema["fields"] = Json::parse(fields_as_json([&](FieldVisitor& visitor) { describe(visitor, config); }));
  for (const auto& type : environment_types()) schema["environments"][std::string(type.name)] = Json::parse(fields_as_json(type.describe_config));
  schema["metrics"] = metric::iteration_names;
  for (const auto name : metric::iteration_names)
    if (metric::is_by_environment(name)) schema["metrics"].push_back(metric::of_environment(name, "<label>"));
  for (const auto name : metric::evaluation_names) schema["metrics"].push_back("evaluation/<label>/" + std::string(name));
  return schema.dump(2);
}

}  // namespace starpo
