#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/emulated/fiber.h"
#include "engine/cuda/emulated/schedule.h"
#include "engine/cuda/emulated/thread.h"

namespace starpo::cuda::emulated {

struct Launch {
  const char* kernel_name;
  dim3 grid, block;
  const std::function<void()>& kernel;
  void* dynamic_shared;
};

// One block: its threads run in turns, each until it must wait for another.
class Block {
 public:
  Block(const Launch& launch, Schedule& schedule, uint3 index);

  // Returns when every thread has returned. Throws KernelError, or what a thread has thrown.
  void run();

  void synchronize_block();
  void synchronize_warp(const char* operation, void* operand, void (*perform)(WarpOperands));
  void declare_shared(void* variable, std::size_t bytes);
  void* dynamic_shared() const { return launch_.dynamic_shared; }
  Schedule& schedule() { return schedule_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  enum class State : unsigned char { ready, in_warp, in_block, finished };
  struct Warp {
    const char* operation = nullptr;
    int waiting = 0;
    void* operands[kWarpSize] = {};
  };

  static void enter(void* thread);
  void run_next();      // hands the processor on; returns when it is this thread's turn again
  int next_position();  // of a thread that is ready; -1: none
  Context& context_at(int position);
  int ready_between(int begin, int end) const;
  std::string describe_deadlock() const;

  const Launch& launch_;
  Schedule& schedule_;
  uint3 index_;
  std::vector<Thread> threads_;
  std::vector<State> states_;  // by thread
  std::vector<int> order_;     // thread at each position
  std::vector<Warp> warps_;
  std::vector<void*> shared_;  // static variables declared in this block
  int position_ = -1;          // of the running thread; -1: none
  int waiting_in_block_ = 0;
  int unfinished_;
  std::exception_ptr error_;
  Context main_;
};

}  // namespace starpo::cuda::emulated
