#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "files/network_file_system.h"

using namespace starpo;

TEST_CASE("file systems of several machines are recognized") {
  for (const std::uint32_t shared : {0x6969u, 0x0BD00BD0u, 0x47504653u, 0x19830326u})
    CHECK(is_network_file_system(shared));
  for (const std::uint32_t local : {0xEF53u, 0x01021994u, 0x58465342u, 0x9123683Eu})
    CHECK_FALSE(is_network_file_system(local));
  const int descriptor = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  CHECK_FALSE(is_on_network(descriptor));
  ::close(descriptor);
  CHECK_FALSE(is_on_network(-1));
}
