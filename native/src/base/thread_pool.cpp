#include "base/thread_pool.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace starpo {
namespace {

constexpr int kSpins = 2000;
constexpr std::uint64_t kNothingLeft = 0x7fffffff;

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

// Each loop has a generation number. Workers claim an index together with its generation in one 64-bit word, so a
// worker that wakes late can't claim an index of a later loop, and a loop never waits for a worker that claimed
// nothing.
struct ThreadPool::State {
  std::atomic<std::uint64_t> claim{0};  // generation in the high half, next index in the low half
  std::atomic<std::uint32_t> generation{0};
  std::atomic<const std::function<void(int)>*> body{nullptr};
  std::atomic<int> count{0};
  std::atomic<int> finished{0};
  std::atomic<bool> busy{false};
  std::atomic<bool> stopping{false};
  std::mutex error_mutex;
  std::exception_ptr error;
  std::vector<std::thread> workers;

  void work(std::uint32_t current) {
    for (;;) {
      std::uint64_t word = claim.load(std::memory_order_acquire);
      const auto* job = body.load(std::memory_order_acquire);
      const int total = count.load(std::memory_order_acquire);
      const int index = static_cast<int>(word & 0xffffffffu);
      if (static_cast<std::uint32_t>(word >> 32) != current || index >= total) return;
      if (!claim.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel)) continue;
      try {
        (*job)(index);
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
      }
      if (finished.fetch_add(1, std::memory_order_acq_rel) + 1 == total) finished.notify_one();
    }
  }

  void run_worker() {
    std::uint32_t seen = 0;
    for (;;) {
      std::uint32_t now = generation.load(std::memory_order_acquire);
      for (int spin = 0; now == seen && spin < kSpins; ++spin) {
        pause();
        now = generation.load(std::memory_order_acquire);
      }
      if (now == seen) {
        generation.wait(seen, std::memory_order_acquire);
        continue;
      }
      if (stopping.load(std::memory_order_acquire)) return;
      seen = now;
      work(now);
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  if (threads < 1) throw std::invalid_argument("a thread pool needs at least one thread");
  for (int i = 1; i < threads; ++i) state_->workers.emplace_back([state = state_.get()] { state->run_worker(); });
}

ThreadPool::~ThreadPool() {
  state_->stopping.store(true, std::memory_order_release);
  state_->generation.fetch_add(1, std::memory_order_acq_rel);
  state_->generation.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

int ThreadPool::size() const { return static_cast<int>(state_->workers.size()) + 1; }

void ThreadPool::parallel_for(int count, const std::function<void(int)>& body) {
  if (count <= 0) return;
  State& s = *state_;
  // Without workers, with one index, or inside another loop of this pool, run on the calling thread.
  if (s.workers.empty() || count == 1 || s.busy.exchange(true, std::memory_order_acquire)) {
    for (int i = 0; i < count; ++i) body(i);
    return;
  }
  s.error = nullptr;
  s.finished.store(0, std::memory_order_relaxed);
  const std::uint32_t current = s.generation.load(std::memory_order_relaxed) + 1;
  // Block claims during setup: a worker that still reads the previous loop must not combine it with the new count.
  s.claim.store(static_cast<std::uint64_t>(current) << 32 | kNothingLeft, std::memory_order_seq_cst);
  s.body.store(&body, std::memory_order_release);
  s.count.store(count, std::memory_order_release);
  s.claim.store(static_cast<std::uint64_t>(current) << 32, std::memory_order_release);
  s.generation.store(current, std::memory_order_release);
  s.generation.notify_all();
  s.work(current);
  for (int spin = 0, done; (done = s.finished.load(std::memory_order_acquire)) != count;) {
    if (++spin < kSpins)
      pause();
    else
      s.finished.wait(done, std::memory_order_acquire);
  }
  const std::exception_ptr error = s.error;
  s.error = nullptr;
  s.busy.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

}  // namespace starpo
