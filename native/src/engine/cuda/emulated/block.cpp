#include "engine/cuda/emulated/block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "engine/cuda/emulated/order.h"

namespace starpo::cuda::emulated {

constinit thread_local Thread* current = nullptr;

namespace {

// Reused by later blocks and launches, because mapping a stack costs more than running a small kernel on it.
thread_local std::vector<std::unique_ptr<Fiber>> fibers;

constexpr std::uint64_t kOneBit = 1;

Fiber& fiber_of(int thread) { return *fibers[static_cast<std::size_t>(thread)]; }

std::string describe(uint3 index) {
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) + ")";
}

}  // namespace

Block::Block(const Launch& launch, Schedule& schedule, uint3 index)
    : launch_(launch),
      schedule_(schedule),
      index_(index),
      unfinished_(static_cast<int>(launch.block.x * launch.block.y * launch.block.z)) {
  const auto count = static_cast<std::size_t>(unfinished_);
  threads_.reserve(count);
  for (unsigned z = 0; z < launch.block.z; ++z)
    for (unsigned y = 0; y < launch.block.y; ++y)
      for (unsigned x = 0; x < launch.block.x; ++x)
        threads_.push_back(
            {{x, y, z}, static_cast<int>(threads_.size()), this, &launch_.block, &launch_.grid, &index_, {}});
  states_.assign(count, State::ready);
  warps_.resize((count + kWarpSize - 1) / kWarpSize);
  order_ = schedule_.permutation(unfinished_, true);
  positions_.resize(count);
  for (int position = 0; position < unfinished_; ++position) {
    positions_[static_cast<std::size_t>(order_[static_cast<std::size_t>(position)])] = position;
    set_ready(position);
  }
  while (fibers.size() < count) fibers.push_back(std::make_unique<Fiber>());
}

void Block::enter(void* thread) {
  auto& self = *static_cast<Thread*>(thread);
  Block& block = *self.block;
  current = &self;
  try {
    block.launch_.kernel();
  } catch (...) {
    block.error_ = std::current_exception();
  }
  block.stop_running(self.linear_index, State::finished);
  --block.unfinished_;
  Context& here = fiber_of(self.linear_index).context();
  block.position_ = block.error_ ? -1 : block.next_position();
  leave_fiber(here, block.context_at(block.position_));
}

void Block::run() {
  for (auto& thread : threads_) fiber_of(thread.linear_index).prepare(&Block::enter, &thread);
  position_ = next_position();
  switch_context(main_, context_at(position_));
  current = nullptr;
  if (error_) std::rethrow_exception(error_);
  if (unfinished_ > 0) fail(describe_deadlock());
}

void Block::run_next() {
  Thread& self = *current;
  position_ = next_position();
  switch_context(fiber_of(self.linear_index).context(), context_at(position_));
  current = &self;
}

Context& Block::context_at(int position) {
  return position < 0 ? main_ : fiber_of(order_[static_cast<std::size_t>(position)]).context();
}

void Block::set_ready(int position) { ready_[static_cast<std::size_t>(position) / 64] |= kOneBit << position % 64; }

void Block::set_ready_from(std::size_t first, std::size_t count) {
  for (std::size_t thread = first; thread < first + count; ++thread) {
    states_[thread] = State::ready;
    set_ready(positions_[thread]);
  }
}

void Block::stop_running(int thread, State state) {
  states_[static_cast<std::size_t>(thread)] = state;
  const int position = positions_[static_cast<std::size_t>(thread)];
  ready_[static_cast<std::size_t>(position) / 64] &= ~(kOneBit << position % 64);
}

int Block::ready_between(int begin, int end) const {
  if (begin >= end) return -1;
  auto word = static_cast<std::size_t>(begin) / 64;
  std::uint64_t bits = ready_[word] >> begin % 64 << begin % 64;
  while (bits == 0) {
    if (++word * 64 >= static_cast<std::size_t>(end)) return -1;
    bits = ready_[word];
  }
  const int position = static_cast<int>(word) * 64 + std::countr_zero(bits);
  return position < end ? position : -1;
}

int Block::next_position() {
  const int count = static_cast<int>(order_.size());
  if (schedule_.whole_warps() && position_ >= 0) {
    const int warp = position_ / kWarpSize * kWarpSize;
    const int found = ready_between(warp, std::min(warp + kWarpSize, count));
    if (found >= 0) return found;
  }
  const int start = schedule_.start(position_ + 1, count);
  const int found = ready_between(start, count);
  return found >= 0 ? found : ready_between(0, std::min(start, count));
}

void Block::synchronize_block() {
  if (++waiting_in_block_ == static_cast<int>(threads_.size())) {
    waiting_in_block_ = 0;
    set_ready_from(0, threads_.size());
    return;
  }
  stop_running(current->linear_index, State::in_block);
  run_next();
}

void Block::synchronize_warp(const char* operation, void* operand, void (*perform)(WarpOperands)) {
  const auto thread = static_cast<std::size_t>(current->linear_index);
  const std::size_t first = thread / kWarpSize * kWarpSize;
  if (first + kWarpSize > threads_.size()) fail(std::string(operation) + " in a warp of fewer than 32 threads");
  Warp& warp = warps_[thread / kWarpSize];
  if (warp.waiting > 0 && warp.operation != operation && std::strcmp(warp.operation, operation) != 0)
    fail("the lanes of warp " + std::to_string(thread / kWarpSize) + " have diverged: some are at " + warp.operation +
         ", thread " + describe(current->index) + " at " + operation);
  warp.operation = operation;
  warp.operands[thread - first] = operand;
  if (++warp.waiting == kWarpSize) {
    warp.waiting = 0;
    if (perform) perform(warp.operands);
    set_ready_from(first, kWarpSize);
    return;
  }
  stop_running(current->linear_index, State::in_warp);
  run_next();
}

void Block::declare_shared(void* variable, std::size_t bytes) {
  if (std::find(shared_.begin(), shared_.end(), variable) != shared_.end()) return;
  shared_.push_back(variable);
  std::memset(variable, 0xff, bytes);
}

void Block::fail(const std::string& what) const {
  throw KernelError(std::string("kernel ") + launch_.kernel_name + ", block " + describe(index_) + ": " + what);
}

std::string Block::describe_deadlock() const {
  const auto count = [&](State state) { return std::count(states_.begin(), states_.end(), state); };
  std::string text = "deadlock, because not all of " + std::to_string(threads_.size()) +
                     " threads reached the same barrier: " + std::to_string(count(State::in_block)) +
                     " wait at __syncthreads, " + std::to_string(count(State::in_warp)) +
                     " for the lanes of their warp";
  for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
    if (states_[thread] != State::in_warp) continue;
    text += " (the first is thread " + describe(threads_[thread].index) + " at " +
            warps_[thread / kWarpSize].operation + ")";
    break;
  }
  return text + ", " + std::to_string(count(State::finished)) + " have returned";
}

}  // namespace starpo::cuda::emulated
