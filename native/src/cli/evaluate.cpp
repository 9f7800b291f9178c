#include "cli/commands.h"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/error.h"
#include "base/stop_signals.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

class ProgressReport {
 public:
  explicit ProgressReport(bool json) : json_(json) {}

  void operator()(int done, int total) {
    if (stop_signal_received())
      throw Error("evaluation_canceled", "the evaluation was canceled; no result was written",
                  "run the evaluation again");
    const auto now = Clock::now();
    if (done > 0 && now - reported_at_ < std::chrono::milliseconds(json_ ? 250 : 1000)) return;
    if (done == reported_done_) return;
    reported_at_ = now;
    reported_done_ = done;
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    const Json eta = done > 0 ? Json(elapsed * (total - done) / done) : Json(nullptr);
    if (json_)
      std::cout << Json{{"done", done}, {"total", total}, {"eta_seconds", eta}}.dump() << std::endl;
    else
      std::cerr << done << " of " << counted(total, "episode")
                << (eta.is_null() ? "" : ", " + std::to_string(static_cast<long>(eta.get<double>() + 0.5)) + " s left")
                << std::endl;
  }

 private:
  bool json_;
  Clock::time_point start_ = Clock::now(), reported_at_{};
  int reported_done_ = -1;
};

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}

void describe(const Json& result) {
  const std::string label = result["environment"]["label"];
  const auto metric = [&](const char* name) {
    return result["metrics"]["evaluation/" + label + "/" + name].get<double>();
  };
  std::cout << label << " at checkpoint " << result["checkpoint"] << ": success " << percent(metric("success_rate"))
            << " (95 % interval " << percent(metric("success_rate_low")) << " to "
            << percent(metric("success_rate_high")) << ") on " << counted(result["levels"].get<int>(), "level")
            << ", reward " << metric("reward_mean") << "\n"
            << "evaluation " << result["name"].get<std::string>() << "\n";
}

}  // namespace

int evaluate_command(const std::filesystem::path& run_directory, const EvaluationRequest& request, bool json) {
  // Ctrl+C in a terminal causes two signals: one from the terminal and one from core, which cancels the evaluation. The
  // second must not interrupt the cleanup.
  install_stop_handlers(SecondSignal::ignored);
  const auto plan = plan_evaluation(run_directory, request);
  const auto result = Json::parse(evaluate_checkpoint(run_directory, request.checkpoint, plan, ProgressReport(json)));
  if (json)
    std::cout << Json{{"result", result}}.dump() << std::endl;
  else
    describe(result);
  return 0;
}

}  // namespace starpo
