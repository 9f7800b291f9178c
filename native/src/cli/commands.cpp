#include "cli/commands.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "config/idle_settings.h"
#include "config/run_config.h"
#include "config/upgrade.h"
#include "env/environment.h"
#include "env/protocol.h"
#include "fields/field_reader.h"
#include "files/reading.h"
#include "journal/journal_tail.h"
#include "journal/run_lock.h"
#include "train/context/trainer_state.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t kMaxRunJsonBytes = 64 << 20;

// Settings with the same reason share a line.
void print_idle(const std::vector<IdleSetting>& idle) {
  for (std::size_t i = 0; i < idle.size();) {
    const std::string& reason = idle[i].reason;
    std::string paths = idle[i].path;
    while (++i < idle.size() && idle[i].reason == reason) paths += ", " + idle[i].path;
    std::cout << "no effect: " << paths << " (" << reason << ")\n";
  }
}

// Returns the digest of each environment's files.
std::vector<std::string> files_digests(const RunConfig& config) {
  std::vector<std::string> digests;
  for (const auto& environment : config.environments)
    digests.push_back(make_environment(environment.type, environment.config)->files_digest());
  return digests;
}

void print(const Json& json) { std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n"; }

}  // namespace

int validate_command(const std::filesystem::path& run_json, bool start, bool json) {
  const auto text = run_json == "-" ? std::optional(std::string(std::istreambuf_iterator<char>(std::cin), {}))
                                    : read_text_file(run_json, kMaxRunJsonBytes);
  const RunConfig config = text ? parse_run_config(*text) : read_run_config(run_json);  // throws with the reason
  check_trainable(config);
  if (start) check_start(config);
  const auto warnings = run_config_warnings(config);
  const auto idle = idle_settings(config);
  if (json) {
    auto upgraded = parse_object(text.value_or("{}"), "config_unreadable");
    upgrade_run_config(upgraded);
    auto idle_json = Json::array();
    for (const auto& [path, reason] : idle) idle_json.push_back({{"path", path}, {"reason", reason}});
    Json answer{{"valid", true}, {"warnings", warnings}, {"idle", idle_json}, {"config", upgraded}};
    if (start) answer["files_sha256"] = files_digests(config);
    print(answer);
  } else {
    for (const auto& warning : warnings) std::cout << "warning: " << warning << "\n";
    print_idle(idle);
    std::cout << "valid\n";
  }
  return 0;
}

int schema_command() {
  std::cout << run_config_schema() << "\n";
  return 0;
}

int status_command(const std::filesystem::path& run_directory, bool json) {
  std::error_code error;
  if (!std::filesystem::is_directory(run_directory, error))
    throw Error("run_missing", "run directory " + run_directory.string() + " was not found", "check the path");
  const auto holder = find_lock_holder(run_directory);
  const auto events = run_directory / "events.jsonl";
  const auto last_seq = read_journal_tail(events).last_seq;
  const auto iteration = last_complete_iteration(events);
  if (json) {
    Json status{{"locked", holder.has_value()}, {"pid", nullptr},      {"host", nullptr},
                {"started", nullptr},           {"last_seq", nullptr}, {"iteration", iteration}};
    if (holder) status.update(Json{{"pid", holder->pid}, {"host", holder->host}, {"started", holder->started}});
    if (last_seq >= 0) status["last_seq"] = last_seq;
    print(status);
    return 0;
  }
  if (holder)
    std::cout << "trainer: process " << holder->pid << " on " << holder->host << "\n";
  else
    std::cout << "trainer: none\n";
  std::cout << "iteration: " << iteration << "\nlast event: " << (last_seq < 0 ? "none" : std::to_string(last_seq))
            << "\n";
  return 0;
}

int env_command(const std::string& type, const std::string& config_json, std::optional<std::uint32_t> noise_seed) {
  const auto environment = make_environment(type, config_json);
  serve_environment(*environment, noise_seed, std::cin, std::cout);
  return 0;
}

}  // namespace starpo
