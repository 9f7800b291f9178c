#pragma once

#include <filesystem>
#include <vector>

// In these tests fsync and flock are this file's, so that a test sees what is flushed, and meets a file system without
// locks.
namespace starpo::test {

// What fsync was called for since the last call, in order.
std::vector<std::filesystem::path> take_flushed();

// While it lives, flock fails with ENOLCK.
class NoLocks {
 public:
  NoLocks();
  ~NoLocks();
};

}  // namespace starpo::test
