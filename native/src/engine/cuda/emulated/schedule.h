#pragma once

#include <random>
#include <vector>

namespace starpo::cuda::emulated {

// Chooses the next thread or block (see set_order).
class Schedule {
 public:
  Schedule();  // in the order of the last set_order()

  // Returns the order of a grid's blocks, or of a block's threads. With whole_warps(), the threads of a warp are
  // contiguous.
  std::vector<int> permutation(int count, bool of_threads);

  bool whole_warps() const { return whole_warps_; }
  // Returns the position from which to search for the next thread: `after`, or a random one.
  int start(int after, int count);
  // Returns whether the next asynchronous copy completes immediately.
  bool copies_at_once();

 private:
  unsigned seed_;
  bool whole_warps_;
  std::minstd_rand random_;
};

}  // namespace starpo::cuda::emulated
