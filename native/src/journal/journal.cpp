#include "journal/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>

#include "files/descriptor.h"
#include "files/network_file_system.h"
#include "files/temporary_file.h"
#include "journal/journal_tail.h"
#include "journal/stamp.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kFileName = "events.jsonl";
constexpr std::int64_t kPhaseIntervalMs = 250;
constexpr std::int64_t kSyncIntervalMs = 1000;  // of phases

// Replaces invalid UTF-8 in messages, so that the journal is always valid JSON.
std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json finite(const Metrics& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics)
    if (std::isfinite(value)) json[name] = value;
  return json;
}

Json finite(const Updates& updates) {
  Json json = Json::object();
  for (const auto& [name, values] : updates) {
    auto& list = json[name] = Json::array();
    for (const double value : values)
      if (std::isfinite(value)) list.push_back(value);
  }
  return json;
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string_view verdict_name(Verdict verdict) {
  if (verdict == Verdict::ok) return "ok";
  return verdict == Verdict::suspicious ? "suspicious" : "wrong";
}

}  // namespace

Journal::Journal(const std::filesystem::path& run_directory) : lock_(run_directory), file_(run_directory / kFileName) {
  const auto tail = read_journal_tail(file_);
  descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw write_error(file_, errno);
  size_ = tail.complete_bytes;
  syncs_ = is_on_network(descriptor_);
  next_seq_ = tail.last_seq + 1;
  if (::ftruncate(descriptor_, size_) != 0) {
    const int error = errno;
    ::close(descriptor_);
    throw write_error(file_, error);
  }
  if (tail.truncated_bytes > 0)
    repairs_.push_back("the last line of the journal was truncated; removed its " +
                       std::to_string(tail.truncated_bytes) + " bytes");
  if (tail.invalid_lines > 0)
    repairs_.push_back("skipped lines at the end of the journal that are not events: " +
                       std::to_string(tail.invalid_lines));
  fsync_directory(run_directory);
}

Journal::~Journal() { ::close(descriptor_); }

void Journal::append(std::string_view type, std::string_view fields_json) {
  Json head{{"v", 1}, {"seq", next_seq_}, {"time", milliseconds_since_epoch()}, {"type", type}};
  auto line = head.dump();
  line.back() = fields_json == "{}" ? '}' : ',';
  if (fields_json != "{}") line += fields_json.substr(1);
  line += '\n';
  if (const int error = write_all(descriptor_, line)) {
    // Remove the partial line, so that later events (such as the failure itself) start on a line of their own.
    [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, size_);
    throw write_error(file_, error);
  }
  size_ += static_cast<std::int64_t>(line.size());
  ++next_seq_;
  // Other events are rare, and the last one before a pause must be visible.
  if (const auto now = milliseconds_since_epoch();
      syncs_ && (type != "phase" || now < last_sync_ || now >= last_sync_ + kSyncIntervalMs)) {
    last_sync_ = now;
    if (::fdatasync(descriptor_) != 0) throw write_error(file_, errno);
  }
}

void Journal::started(const StartedEvent& event) {
  Json resume = nullptr;
  if (event.resume) resume = {{"checkpoint", event.resume->checkpoint}, {"iteration", event.resume->iteration}};
  append("started", dump({{"resume", resume},
                          {"iteration", event.iteration},
                          {"pid", ::getpid()},
                          {"host", host_name()},
                          {"build", build_version()},
                          {"isa", event.isa},
                          {"device", event.device},
                          {"device_name", event.device_name},
                          {"device_uuid", event.device_uuid.empty() ? Json(nullptr) : Json(event.device_uuid)},
                          {"threads", event.threads},
                          {"iterations", event.iterations},
                          {"parameters", event.parameters}}));
  for (const auto& repair : repairs_) warning(repair);
  repairs_.clear();
}

void Journal::memory_plan(std::string_view plan_json) { append("memory_plan", plan_json); }

void Journal::phase(std::string_view name, int iteration, std::int64_t done, std::int64_t total) {
  const auto now = milliseconds_since_epoch();
  if (name == last_phase_ && now >= last_phase_time_ && now < last_phase_time_ + kPhaseIntervalMs) return;
  last_phase_ = name;
  last_phase_time_ = now;
  append("phase", dump({{"name", name}, {"iteration", iteration}, {"done", done}, {"total", total}}));
}

void Journal::iteration(int iteration, const Metrics& metrics, const Updates& updates,
                        const std::optional<ReasoningTemplate>& reasoning) {
  Json event{{"iteration", iteration}, {"metrics", finite(metrics)}, {"updates", finite(updates)}};
  if (reasoning) event["template"] = {{"text", reasoning->text}, {"share", reasoning->share}};
  append("iteration", dump(event));
}

void Journal::first_step_check(int iteration, const std::vector<FirstStepCheck>& checks) {
  Json list = Json::array();
  for (const FirstStepCheck& check : checks)
    list.push_back({{"name", check.name},
                    {"title", check.title},
                    {"unit", check.unit},
                    {"value", check.value ? finite_or_null(*check.value) : Json(nullptr)},
                    {"low", finite_or_null(check.low)},
                    {"high", finite_or_null(check.high)},
                    {"verdict", verdict_name(check.verdict)},
                    {"message", check.message},
                    {"setting", check.setting}});
  append("first_step_check", dump({{"iteration", iteration}, {"checks", list}}));
}

void Journal::evaluation(int iteration, std::string_view label, const Metrics& metrics, std::string_view panel) {
  append("evaluation",
         dump({{"iteration", iteration}, {"label", label}, {"metrics", finite(metrics)}, {"panel", panel}}));
}

void Journal::rollout(int iteration, std::string_view split, std::string_view file, std::string_view index,
                      int episodes) {
  append("rollout",
         dump({{"iteration", iteration}, {"split", split}, {"file", file}, {"index", index}, {"episodes", episodes}}));
}

void Journal::rollout_removed(int iteration, std::string_view split) {
  append("rollout_removed", dump({{"iteration", iteration}, {"split", split}}));
}

void Journal::environment_alert(int iteration, std::string_view environment, int voided, int episodes,
                                std::string_view message) {
  append("environment_alert", dump({{"iteration", iteration},
                                    {"environment", environment},
                                    {"void", voided},
                                    {"episodes", episodes},
                                    {"message", message}}));
}

void Journal::checkpoint(int iteration, std::string_view path) {
  append("checkpoint", dump({{"iteration", iteration}, {"path", path}}));
}

void Journal::checkpoint_state_removed(int iteration) {
  append("checkpoint_state_removed", dump({{"iteration", iteration}}));
}

void Journal::acknowledged(std::string_view command_id, bool accepted, std::string_view message) {
  append("acknowledged", dump({{"command_id", command_id}, {"accepted", accepted}, {"message", message}}));
}

void Journal::paused(int iteration) { append("paused", dump({{"iteration", iteration}})); }

void Journal::resumed(int iteration) { append("resumed", dump({{"iteration", iteration}})); }

void Journal::info(std::string_view message) { append("log", dump({{"level", "info"}, {"message", message}})); }

void Journal::warning(std::string_view message) { append("log", dump({{"level", "warning"}, {"message", message}})); }

void Journal::stopped(std::string_view reason, int iteration, std::string_view message) {
  append("stopped", dump({{"reason", reason}, {"iteration", iteration}, {"message", message}}));
  sync();
}

void Journal::failed(std::string_view code, std::string_view message, std::string_view hint, int iteration) {
  append("failed", dump({{"code", code}, {"message", message}, {"hint", hint}, {"iteration", iteration}}));
  sync();
}

void Journal::sync() {
  if (::fdatasync(descriptor_) != 0) throw write_error(file_, errno);
}

}  // namespace starpo
