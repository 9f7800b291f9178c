#include "engine/cuda/emulated/thread.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "engine/cuda/emulated/block.h"
#include "engine/cuda/emulated/order.h"

namespace starpo::cuda::emulated {
namespace {

constexpr std::size_t kCopyBytes = 16;
constexpr std::size_t kSharedAlignment = 128;
constexpr std::size_t kMaxSharedBytes = 99 * 1024;  // compute capability 8.6, 8.9 and 12; others have more

void perform(const AsynchronousCopy& copy) {
  if (copy.global)
    std::memcpy(copy.shared, copy.global, kCopyBytes);
  else
    std::memset(copy.shared, 0, kCopyBytes);
}

bool is_aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % kCopyBytes == 0; }

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

}  // namespace

void synchronize_block() { current->block->synchronize_block(); }

void synchronize_warp(const char* operation, void* operand, void (*perform)(WarpOperands)) {
  current->block->synchronize_warp(operation, operand, perform);
}

void declare_shared(void* variable, std::size_t bytes) { current->block->declare_shared(variable, bytes); }

void* dynamic_shared() { return current->block->dynamic_shared(); }

void fail(const std::string& what) { current->block->fail(what); }

void copy_asynchronously(void* shared, const void* global, bool valid) {
  if (!is_aligned(shared) || !is_aligned(global))
    fail("cp.async of 16 bytes between addresses that are not multiples of 16");
  const AsynchronousCopy copy{shared, valid ? global : nullptr, current->copy_group};
  if (current->block->schedule().copies_at_once())
    perform(copy);
  else
    current->copies.push_back(copy);
}

void commit_copies() { ++current->copy_group; }

void wait_for_copies(int pending_groups) {
  // Copies are in the order of their groups. Uncommitted ones belong to the next group.
  std::size_t done = 0;
  auto& copies = current->copies;
  while (done < copies.size() && copies[done].group < current->copy_group - pending_groups) perform(copies[done++]);
  copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(done));
}

void run_grid(const char* kernel_name, dim3 grid, dim3 block, std::size_t shared_bytes,
              const std::function<void()>& kernel) {
  const std::string launch_name = std::string("launch of ") + kernel_name + ": ";
  if (current) throw KernelError(launch_name + "a kernel can't launch another");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535)
    throw KernelError(launch_name + "invalid grid");
  if (block.x * block.y * block.z == 0 || block.x * block.y * block.z > kMaxThreads)
    throw KernelError(launch_name + "a block has 1 to 1024 threads");
  if (shared_bytes > kMaxSharedBytes) throw KernelError(launch_name + "more than 99 KiB of dynamic shared memory");

  // The exact size, so that AddressSanitizer detects accesses past the end.
  std::unique_ptr<void, Free> shared;
  if (shared_bytes > 0) {
    void* memory = nullptr;
    if (posix_memalign(&memory, kSharedAlignment, shared_bytes) != 0) throw std::bad_alloc();
    shared.reset(memory);
  }
  const Launch launch{kernel_name, grid, block, kernel, shared.get()};
  Schedule schedule;
  for (const int linear : schedule.permutation(static_cast<int>(grid.x * grid.y * grid.z), false)) {
    if (shared_bytes > 0) std::memset(shared.get(), 0xff, shared_bytes);
    const auto index = static_cast<unsigned>(linear);
    Block(launch, schedule, {index % grid.x, index / grid.x % grid.y, index / grid.x / grid.y}).run();
  }
}

}  // namespace starpo::cuda::emulated
