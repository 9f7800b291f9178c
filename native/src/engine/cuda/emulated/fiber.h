#pragma once

#include <cstddef>

// A few instructions on x86-64; elsewhere, or where asked for, the C library's switch, which costs two system calls.
#if defined(__x86_64__) && !defined(STARPO_UCONTEXT_FIBERS)
#define STARPO_OWN_SWITCH
#else
#include <ucontext.h>
#endif

// Flows of control that hand the processor to each other by name, all within one thread of the operating system.
namespace starpo::cuda::emulated {

class Fiber;

// The saved state of a flow of control while another one runs.
struct Context {
#ifdef STARPO_OWN_SWITCH
  void* stack_pointer = nullptr;
#else
  ucontext_t registers;
#endif
  Fiber* fiber = nullptr;  // none: the thread's own stack
  // Arguments of the AddressSanitizer calls at every switch.
  const void* stack_bottom = nullptr;
  std::size_t stack_size = 0;
  void* fake_stack = nullptr;
};

// A stack of its own with an inaccessible page below it, so that an overflow is a fault and never another fiber's data.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The next switch to context() calls entry(argument) on an empty stack; what stood there is forgotten, without
  // destructors. The entry must leave by leave_fiber.
  void prepare(void (*entry)(void*), void* argument);
  Context& context() { return context_; }

 private:
  friend void enter_fiber();
  std::byte* mapping_;
  Context context_;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
};

void switch_context(Context& from, Context& to);

// The last switch of a fiber's flow: `from` must be prepared again before the next switch to it.
[[noreturn]] void leave_fiber(Context& from, Context& to);

}  // namespace starpo::cuda::emulated
