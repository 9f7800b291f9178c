#pragma once

#include <stdexcept>

namespace starpo::cuda::emulated {

// Sets the order in which the emulation runs the blocks of a grid, and the threads of a block between two barriers.
// CUDA guarantees no order, so a kernel must compute the same result in each. A missing barrier changes it in some.
//   0: ascending threads                1: descending threads
//   2: ascending, a warp at a time      3: descending, a warp at a time
//   4 and up: random with this seed, by thread if even, by warp if odd
// Even orders below 4 complete cp.async only at a wait, odd orders immediately. Random orders do either.
void set_order(unsigned seed);

// An error in a kernel that the emulation detected. The message contains kernel, block and threads.
class KernelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace starpo::cuda::emulated
