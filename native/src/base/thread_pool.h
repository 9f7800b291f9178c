#pragma once

#include <functional>
#include <memory>

namespace starpo {

// A fixed set of threads that run one parallel loop at a time. Idle threads spin briefly, then sleep on a futex.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // threads >= 1; the calling thread is one of them
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  // Calls body(index) once for each index in [0, count), on any thread, and returns when all calls have finished. For
  // reproducible results, each output element must belong to exactly one index. Rethrows the first exception of body.
  void parallel_for(int count, const std::function<void(int)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starpo
