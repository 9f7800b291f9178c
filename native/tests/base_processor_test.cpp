#include <doctest/doctest.h>

#include <algorithm>

#include "base/processor.h"
#include "temporary_folder.h"

using namespace starpo;
namespace fs = std::filesystem;

TEST_CASE("available memory is limited by the kernel and by the control groups of the process") {
  TemporaryFolder root;
  for (const char* folder : {"proc/self", "sys/fs/cgroup/outer/inner"}) fs::create_directories(root.path() / folder);
  write_text(root.path() / "proc/meminfo", "MemTotal:  4000 kB\nMemAvailable:    3000 kB\n");
  CHECK(available_memory_bytes(root.path()) == 3000 * 1024);

  write_text(root.path() / "proc/self/cgroup", "0::/outer/inner\n");
  const fs::path outer = root.path() / "sys/fs/cgroup/outer", inner = outer / "inner";
  write_text(inner / "memory.max", "max\n");
  write_text(inner / "memory.current", "500\n");
  write_text(outer / "memory.max", "2000000\n");
  write_text(outer / "memory.current", "1500000\n");
  CHECK(available_memory_bytes(root.path()) == 500000);
  write_text(outer / "memory.stat",
             "anon 7\ninactive_file 200000\nactive_file 70000\nslab_reclaimable 30000\n");  // reclaimable
  CHECK(available_memory_bytes(root.path()) == 800000);
  write_text(inner / "memory.max", "500100\n");
  CHECK(available_memory_bytes(root.path()) == 499600);
  CHECK(total_memory_bytes(root.path()) == 500100);
  write_text(inner / "memory.max", "400\n");
  CHECK(available_memory_bytes(root.path()) == 0);
}

TEST_CASE("memory and threads are limited by control groups of version 1") {
  TemporaryFolder root;
  const fs::path groups = root.path() / "sys/fs/cgroup", memory = groups / "memory/job", cpu = groups / "cpu/job";
  for (const fs::path& folder : {root.path() / "proc/self", memory, cpu}) fs::create_directories(folder);
  write_text(root.path() / "proc/meminfo", "MemAvailable:    3000 kB\n");
  write_text(root.path() / "proc/self/cgroup", "4:memory:/job\n2:cpuacct:/\n1:cpuset,cpu:/job\n0::/\n");
  write_text(memory / "memory.limit_in_bytes", "2000000\n");
  write_text(memory / "memory.usage_in_bytes", "1500000\n");
  write_text(groups / "memory/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(available_memory_bytes(root.path()) == 500000);
  CHECK(total_memory_bytes(root.path()) == 2000000);
  const int machine = available_threads(root.path());
  write_text(cpu / "cpu.cfs_quota_us", "-1\n");
  write_text(cpu / "cpu.cfs_period_us", "100000\n");
  CHECK(available_threads(root.path()) == machine);
  write_text(cpu / "cpu.cfs_quota_us", "50000\n");
  CHECK(available_threads(root.path()) == 1);
}

TEST_CASE("threads are limited by the processor quota, rounded up, and by its parents") {
  TemporaryFolder root;
  const fs::path outer = root.path() / "sys/fs/cgroup/outer", inner = outer / "inner";
  for (const fs::path& folder : {root.path() / "proc/self", inner}) fs::create_directories(folder);
  write_text(root.path() / "proc/self/cgroup", "0::/outer/inner\n");
  const int machine = available_threads(root.path());
  write_text(inner / "cpu.max", "max 100000\n");
  CHECK(available_threads(root.path()) == machine);
  write_text(inner / "cpu.max", "150000 100000\n");
  CHECK(available_threads(root.path()) == std::min(machine, 2));
  write_text(outer / "cpu.max", "100000 100000\n");
  CHECK(available_threads(root.path()) == 1);
}
