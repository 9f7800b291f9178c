#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "journal/journal.h"

namespace starpo {

// Metrics of an iteration in a journal.
struct LoggedMetrics {
  Metrics iteration;
  std::vector<std::pair<std::string, Metrics>> evaluations;  // with their labels, in the order of the journal
  bool ended = false;                                        // the run completed or was stopped after it
};

// Returns the wanted metrics of all iterations up to `last`, by iteration: those of the latest process that trained it.
// A missing file is treated as empty. Errors: journal_unreadable.
std::map<int, LoggedMetrics> read_logged_metrics(const std::filesystem::path& events, int last,
                                                 const std::function<bool(std::string_view name)>& wanted);

}  // namespace starpo
