#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "engine/cuda/emulated/types.h"

// A CUDA thread in the emulation. The built-in functions in builtins.h are based on it.
namespace starpo::cuda::emulated {

constexpr int kWarpSize = 32;
constexpr unsigned kMaxThreads = 1024;  // of a block

class Block;

struct AsynchronousCopy {
  void* shared;
  const void* global;  // null: zeros
  int group;
};

struct Thread {
  uint3 index;
  int linear_index;
  Block* block;
  const dim3* block_dimensions;
  const dim3* grid_dimensions;
  const uint3* block_index;
  std::vector<AsynchronousCopy> copies;
  int copy_group = 0;
};

// The running thread.
extern constinit thread_local Thread* current;
inline int lane() { return current->linear_index % kWarpSize; }

// Waits for the other threads of the block.
void synchronize_block();

// Waits for the other lanes of the warp. The last lane to arrive calls perform with the operands of all lanes; then all
// lanes return.
using WarpOperands = void* const (&)[kWarpSize];
void synchronize_warp(const char* operation, void* operand, void (*perform)(WarpOperands operands));

// Fills a static shared variable with the byte 0xff (NaN in every floating point type) when the first thread of the
// block declares it.
void declare_shared(void* variable, std::size_t bytes);
void* dynamic_shared();

void copy_asynchronously(void* shared, const void* global, bool valid);  // 16 bytes; zeros if not valid
void commit_copies();
void wait_for_copies(int pending_groups);

[[noreturn]] void fail(const std::string& what);

// Runs kernel() once for each thread of the grid. Throws KernelError, or the exception of a thread.
void run_grid(const char* kernel_name, dim3 grid, dim3 block, std::size_t shared_bytes,
              const std::function<void()>& kernel);

}  // namespace starpo::cuda::emulated
