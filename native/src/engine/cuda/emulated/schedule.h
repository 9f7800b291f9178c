#pragma once

#include <random>
#include <vector>

namespace starpo::cuda::emulated {

// Which thread or block is next (see set_order).
class Schedule {
 public:
  Schedule();  // by the order set last

  // The order of a grid's blocks, or of a block's threads; with whole_warps() the threads of a warp are contiguous.
  std::vector<int> permutation(int count, bool of_threads);

  bool whole_warps() const { return whole_warps_; }
  // Where to look for the next thread: `after`, or anywhere.
  int start(int after, int count);
  bool copies_at_once();

 private:
  unsigned seed_;
  bool whole_warps_;
  std::minstd_rand random_;
};

}  // namespace starpo::cuda::emulated
