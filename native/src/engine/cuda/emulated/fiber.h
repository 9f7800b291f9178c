#pragma once

#include <cstddef>

// A switch takes a few instructions on x86-64. Other processors, or STARPO_UCONTEXT_FIBERS, use the C library's switch,
// which costs two system calls.
#if defined(__x86_64__) && !defined(STARPO_UCONTEXT_FIBERS)
#define STARPO_ASSEMBLY_SWITCH
#else
#include <ucontext.h>
#endif

// Cooperative threads of execution in one thread of the operating system. Each switch names its target.
namespace starpo::cuda::emulated {

class Fiber;

// The saved state of a fiber, or of the operating system's thread, while another runs.
struct Context {
#ifdef STARPO_ASSEMBLY_SWITCH
  void* stack_pointer = nullptr;
#else
  ucontext_t registers;
#endif
  Fiber* fiber = nullptr;  // null: the operating system's thread
  // Arguments of AddressSanitizer's calls at each switch.
  const void* stack_bottom = nullptr;
  std::size_t stack_size = 0;
  void* fake_stack = nullptr;
};

// A fiber with its own stack. The page below the stack is inaccessible, so that an overflow faults and can't overwrite
// other data.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Makes the next switch to context() call entry(argument) on an empty stack. Discards the previous stack without
  // running destructors. The entry must end with leave_fiber.
  void prepare(void (*entry)(void*), void* argument);
  Context& context() { return context_; }

 private:
  friend void enter_fiber();
  std::byte* mapping_;
  std::byte* stack_end_;
  Context context_;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
};

void switch_context(Context& from, Context& to);

// Ends a fiber. `from` must be prepared again before the next switch to it.
[[noreturn]] void leave_fiber(Context& from, Context& to);

}  // namespace starpo::cuda::emulated
