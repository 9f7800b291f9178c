#include "engine/cuda/emulated/fiber.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define STARPO_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STARPO_ADDRESS_SANITIZER
#endif
#endif

#ifdef STARPO_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#ifdef STARPO_ASSEMBLY_SWITCH
// Pushes the callee-saved registers of the System V ABI, saves the stack pointer, and resumes the other context.
asm(R"(
.text
.globl starpo_switch_stack
.hidden starpo_switch_stack
.type starpo_switch_stack, @function
starpo_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size starpo_switch_stack, .-starpo_switch_stack
)");
extern "C" void starpo_switch_stack(void** save, void* load);
#endif

namespace starpo::cuda::emulated {
namespace {

constexpr std::size_t kPageBytes = 4096;
// Stacks end at different distances from the end of a page. Otherwise the ends of all stacks would compete for the same
// few lines of the first-level cache, at every switch.
constexpr std::size_t kEndStepBytes = 5 * 64;
#ifdef STARPO_ADDRESS_SANITIZER
constexpr std::size_t kStackBytes = 64 * kPageBytes;
#else
constexpr std::size_t kStackBytes = 24 * kPageBytes;
#endif

// The last switch of this thread.
thread_local Context* switched_from = nullptr;
thread_local Context* switched_to = nullptr;

void announce_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const Context& to) {
#ifdef STARPO_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(fake_stack, to.stack_bottom, to.stack_size);
#endif
}

void announce_arrival([[maybe_unused]] const Context& here) {
#ifdef STARPO_ADDRESS_SANITIZER
  // Only the sanitizer knows the stack of the operating system's thread. It returns it at the first switch to a fiber.
  const void* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(here.fake_stack, &bottom, &size);
  switched_from->stack_bottom = bottom;
  switched_from->stack_size = size;
#endif
}

void jump(Context& from, Context& to) {
  switched_from = &from;
  switched_to = &to;
#ifdef STARPO_ASSEMBLY_SWITCH
  starpo_switch_stack(&from.stack_pointer, to.stack_pointer);
#else
  swapcontext(&from.registers, &to.registers);
#endif
}

}  // namespace

void enter_fiber() {
  Fiber* const self = switched_to->fiber;
  announce_arrival(self->context_);
  self->entry_(self->argument_);
  std::abort();
}

Fiber::Fiber() {
  void* const mapping = mmap(nullptr, kPageBytes + kStackBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mprotect(mapping, kPageBytes, PROT_NONE);
  mapping_ = static_cast<std::byte*>(mapping);
  static std::atomic<std::size_t> stacks{0};
  stack_end_ = mapping_ + kPageBytes + kStackBytes - stacks++ * kEndStepBytes % kPageBytes;
  context_.fiber = this;
  context_.stack_bottom = mapping_ + kPageBytes;
  context_.stack_size = kStackBytes;
}

Fiber::~Fiber() { munmap(mapping_, kPageBytes + kStackBytes); }

void Fiber::prepare(void (*entry)(void*), void* argument) {
  entry_ = entry;
  argument_ = argument;
  context_.fake_stack = nullptr;
#ifdef STARPO_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(mapping_ + kPageBytes, kStackBytes);
#endif
#ifdef STARPO_ASSEMBLY_SWITCH
  // From the top, the stack contains a null return address, the address that the switch returns to, and six registers.
  // A function expects its return address 8 bytes below a multiple of 16.
  auto* top = reinterpret_cast<std::uintptr_t*>(stack_end_);
  *--top = 0;
  *--top = reinterpret_cast<std::uintptr_t>(&enter_fiber);
  for (int i = 0; i < 6; ++i) *--top = 0;
  context_.stack_pointer = top;
#else
  getcontext(&context_.registers);
  context_.registers.uc_stack.ss_sp = mapping_ + kPageBytes;
  context_.registers.uc_stack.ss_size = static_cast<std::size_t>(stack_end_ - mapping_) - kPageBytes;
  context_.registers.uc_link = nullptr;
  makecontext(&context_.registers, &enter_fiber, 0);
#endif
}

void switch_context(Context& from, Context& to) {
  announce_switch(&from.fake_stack, to);
  jump(from, to);
  announce_arrival(from);
}

void leave_fiber(Context& from, Context& to) {
  announce_switch(nullptr, to);
  jump(from, to);
  std::abort();
}

}  // namespace starpo::cuda::emulated
