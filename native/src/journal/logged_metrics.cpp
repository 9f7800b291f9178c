#include "journal/logged_metrics.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace starpo {
namespace {

Metrics wanted_metrics(const nlohmann::json& event, const std::function<bool(std::string_view)>& wanted) {
  Metrics found;
  const auto metrics = event.find("metrics");
  if (metrics == event.end() || !metrics->is_object()) return found;
  for (const auto& [name, value] : metrics->items())
    if (value.is_number() && wanted(name)) found[name] = value.get<double>();
  return found;
}

}  // namespace

std::map<int, LoggedMetrics> read_logged_metrics(const std::filesystem::path& events, int last,
                                                 const std::function<bool(std::string_view name)>& wanted) {
  std::map<int, LoggedMetrics> logged;
  std::error_code error;
  if (!std::filesystem::exists(events, error)) return logged;
  std::ifstream file(events, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (line.find("\"type\":\"phase\"") != line.npos) continue;  // most lines
    const nlohmann::json event = nlohmann::json::parse(line, nullptr, false);
    if (!event.is_object()) continue;
    const nlohmann::json iteration = event.value("iteration", nlohmann::json()),
                         type = event.value("type", nlohmann::json());
    if (!iteration.is_number_integer() || iteration > last) continue;
    LoggedMetrics& own = logged[iteration.get<int>()];
    const nlohmann::json label = event.value("label", nlohmann::json());
    // A process that repeats an iteration also repeats what follows it.
    if (type == "iteration") own = {wanted_metrics(event, wanted), {}};
    if (type == "evaluation" && label.is_string())
      own.evaluations.emplace_back(label.get<std::string>(), wanted_metrics(event, wanted));
    if (type == "stopped") own.ended = true;
  }
  if (!file.eof())
    throw Error("journal_unreadable", events.string() + " can't be read",
                "check that it is a regular file and that you have permission to read it");
  return logged;
}

}  // namespace starpo
