#include <doctest/doctest.h>

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
  write_text(inner / "memory.max", "400\n");
  CHECK(available_memory_bytes(root.path()) == 0);
}
