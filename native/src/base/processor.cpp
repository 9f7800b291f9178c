#include "base/processor.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <vector>

namespace starpo {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

// Returns the number after a name in lines such as "MemAvailable:   123 kB" and "inactive_file 123".
std::optional<std::int64_t> number_after(const std::filesystem::path& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word;)
    if (std::int64_t number = 0; word == name && file >> number) return number;
  return std::nullopt;
}

std::optional<std::int64_t> number_in(const std::filesystem::path& path) {
  std::int64_t number = 0;
  if (std::ifstream(path) >> number) return number;
  return std::nullopt;
}

// A control group and its file names in version 1 or 2.
struct Group {
  std::filesystem::path folder;
  bool unified;
};

// Returns the groups of this process with a controller, such as "memory", and their parents, whose limits also apply.
std::vector<Group> groups_of(const std::filesystem::path& root, const std::string& controller) {
  std::vector<Group> groups;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    // ID:CONTROLLERS:/PATH; version 2 has no controllers.
    const auto first = line.find(':'), second = line.find(":/", first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find("," + controller + ",") == std::string::npos) continue;
    const auto top = unified ? root / "sys/fs/cgroup" : root / "sys/fs/cgroup" / controller;
    for (std::filesystem::path group = line.substr(second + 2);; group = group.parent_path()) {
      groups.push_back({top / group, unified});
      if (group.empty()) break;
    }
  }
  return groups;
}

// Returns a group's limit. Without one, the file contains "max" or an impossible number.
std::optional<std::int64_t> memory_limit(const Group& group) {
  constexpr std::int64_t impossible = std::int64_t{1} << 60;
  const auto limit = number_in(group.folder / (group.unified ? "memory.max" : "memory.limit_in_bytes"));
  return limit && *limit < impossible ? limit : std::nullopt;
}

// Returns the bytes that a group can still allocate, including reclaimable caches. Returns nothing without a limit.
std::optional<std::int64_t> available_in_group(const Group& group) {
  const auto limit = memory_limit(group);
  const auto current = number_in(group.folder / (group.unified ? "memory.current" : "memory.usage_in_bytes"));
  if (!limit || !current) return std::nullopt;
  std::int64_t reclaimable = 0;
  for (const char* name : {"inactive_file", "active_file", "slab_reclaimable"})
    reclaimable += number_after(group.folder / "memory.stat", name).value_or(0);
  return std::max<std::int64_t>(0, *limit - *current + reclaimable);
}

// Returns the processors that a group may use, rounded up. Returns nothing without a limit.
std::optional<int> processors_of(const Group& group) {
  std::optional<std::int64_t> quota, period;
  if (group.unified) {
    std::int64_t pair[2];
    if (!(std::ifstream(group.folder / "cpu.max") >> pair[0] >> pair[1])) return std::nullopt;
    quota = pair[0], period = pair[1];
  } else {
    quota = number_in(group.folder / "cpu.cfs_quota_us");
    period = number_in(group.folder / "cpu.cfs_period_us");
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<int>((*quota + *period - 1) / *period);
}

std::optional<std::int64_t> address_space_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

}  // namespace

std::int64_t available_memory_bytes(const std::filesystem::path& root) {
  std::int64_t available =
      number_after(root / "proc/meminfo", "MemAvailable:").value_or(total_memory_bytes(root) / 1024) * 1024;
  for (const Group& group : groups_of(root, "memory"))
    if (const auto left = available_in_group(group)) available = std::min(available, *left);
  if (const auto limit = address_space_limit()) {
    const auto used = number_in(root / "proc/self/statm").value_or(0) * ::sysconf(_SC_PAGESIZE);
    available = std::min(available, std::max<std::int64_t>(0, *limit - used));
  }
  return available;
}

std::int64_t total_memory_bytes(const std::filesystem::path& root) {
  std::int64_t total = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  for (const Group& group : groups_of(root, "memory"))
    if (const auto limit = memory_limit(group)) total = std::min(total, *limit);
  if (const auto limit = address_space_limit()) total = std::min(total, *limit);
  return total;
}

int available_threads(const std::filesystem::path& root) {
  cpu_set_t allowed;
  int threads = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  for (const Group& group : groups_of(root, "cpu"))
    if (const auto limit = processors_of(group)) threads = std::min(threads, *limit);
  return std::max(1, threads);
}

Processor describe_processor() {
  return {.name = processor_name(), .threads = available_threads(), .memory_bytes = total_memory_bytes()};
}

}  // namespace starpo
