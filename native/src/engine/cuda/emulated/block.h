#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
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

// A thread block. Its threads take turns: each runs until it must wait for others.
class Block {
 public:
  Block(const Launch& launch, Schedule& schedule, uint3 index);

  // Runs all threads to their end. Throws KernelError, or the exception of a thread.
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
  // Runs other threads and returns when it is the turn of the current thread again.
  void run_next();
  // Returns the position of the next ready thread, or -1 if there is none.
  int next_position();
  Context& context_at(int position);
  void set_ready(int position);
  void set_ready_from(std::size_t first, std::size_t count);
  void stop_running(int thread, State state);
  // Returns the first ready position in [begin, end), or -1 if there is none.
  int ready_between(int begin, int end) const;
  std::string describe_deadlock() const;

  const Launch& launch_;
  Schedule& schedule_;
  uint3 index_;
  std::vector<Thread> threads_;
  std::vector<State> states_;   // by thread
  std::vector<int> order_;      // threads by position
  std::vector<int> positions_;  // by thread
  // A bit per position, set if its thread is ready. The search for the next thread is a part of each switch.
  std::array<std::uint64_t, kMaxThreads / 64> ready_{};
  std::vector<Warp> warps_;
  std::vector<void*> shared_;  // static variables declared in this block
  int position_ = -1;          // of the running thread; -1: none
  int waiting_in_block_ = 0;
  int unfinished_;
  std::exception_ptr error_;
  Context main_;
};

}  // namespace starpo::cuda::emulated
