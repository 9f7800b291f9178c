#include "files/network_file_system.h"

#include <sys/vfs.h>

#include <algorithm>
#include <array>

namespace starpo {

bool is_network_file_system(std::uint32_t type) {
  constexpr std::array<std::uint32_t, 9> types{
      0x6969,      // NFS
      0x0BD00BD0,  // Lustre
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
      0x00C36400,  // Ceph
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB2
      0x5346414F,  // AFS
      0x65735546,  // FUSE, such as sshfs
  };
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool is_on_network(int descriptor) {
  struct statfs status{};
  return ::fstatfs(descriptor, &status) == 0 && is_network_file_system(static_cast<std::uint32_t>(status.f_type));
}

}  // namespace starpo
