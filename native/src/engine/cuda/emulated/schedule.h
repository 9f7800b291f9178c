#pragma once

#include <cstdint>
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
  int start(int after, int count) { return random_order_ ? random_below(count) : after; }
  // Returns whether the next asynchronous copy completes immediately.
  bool copies_at_once() { return random_order_ ? random_below(2) == 0 : seed_ % 2 == 1; }

 private:
  // A multiplication, because a division takes longer than a switch between threads.
  int random_below(int count) { return static_cast<int>(random_() * static_cast<std::uint64_t>(count) >> 31); }

  unsigned seed_;
  bool random_order_, whole_warps_;
  std::minstd_rand random_;
};

}  // namespace starpo::cuda::emulated
