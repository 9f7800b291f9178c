#pragma once

#include <filesystem>
#include <vector>

// Replaces fsync and flock in these tests, so that a test can check flushed files and simulate a file system without
// locks.
namespace starpo::test {

// Returns the files for which fsync was called since the last call, in order.
std::vector<std::filesystem::path> take_flushed();

// Makes flock fail with ENOLCK until it is destroyed.
class NoLocks {
 public:
  NoLocks();
  ~NoLocks();
};

}  // namespace starpo::test
