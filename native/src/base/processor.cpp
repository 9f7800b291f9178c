#include "base/processor.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

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

// Returns the memory that a control group can still allocate, in bytes, including reclaimable caches. Returns nothing
// if the group has no limit.
std::optional<std::int64_t> available_in_group(const std::filesystem::path& group) {
  std::int64_t limit = 0, current = 0;
  if (!(std::ifstream(group / "memory.max") >> limit) || !(std::ifstream(group / "memory.current") >> current))
    return std::nullopt;  // memory.max is "max": no limit
  std::int64_t reclaimable = 0;
  for (const char* name : {"inactive_file", "active_file", "slab_reclaimable"})
    reclaimable += number_after(group / "memory.stat", name).value_or(0);
  return std::max<std::int64_t>(0, limit - current + reclaimable);
}

}  // namespace

std::int64_t available_memory_bytes(const std::filesystem::path& root) {
  std::int64_t available =
      number_after(root / "proc/meminfo", "MemAvailable:").value_or(describe_processor().memory_bytes / 1024) * 1024;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::string unified = "0::/";  // cgroups version 2
    if (!line.starts_with(unified)) continue;
    const std::filesystem::path top = root / "sys/fs/cgroup";
    // The limits of parent cgroups also apply.
    for (std::filesystem::path group = std::filesystem::path(line.substr(unified.size()));;
         group = group.parent_path()) {
      if (const auto left = available_in_group(top / group)) available = std::min(available, *left);
      if (group.empty()) break;
    }
  }
  return available;
}

Processor describe_processor() {
  cpu_set_t allowed;
  const bool has_affinity = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  return {.name = processor_name(),
          .threads = has_affinity ? CPU_COUNT(&allowed) : 1,
          .memory_bytes = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE)};
}

}  // namespace starpo
