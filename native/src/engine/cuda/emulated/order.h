#pragma once

#include <stdexcept>

namespace starpo::cuda::emulated {

// In which order the emulation runs a block's threads between two points where they wait, and a grid's blocks. CUDA
// promises none, so a kernel must give the same result in every one; a missing barrier shows in some.
//   0 one after another    1 backwards    2 a warp as far as it gets, then the next    3 the same backwards
//   from 4 on: at random by this seed, even by thread, odd by warp.
// Even orders finish cp.async only when it is waited for, odd ones at once, random ones now and then.
void set_order(unsigned seed);

// What the emulation finds wrong with a kernel: named with kernel, block and threads.
class KernelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace starpo::cuda::emulated
