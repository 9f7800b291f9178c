#pragma once

#include <functional>
#include <memory>

namespace starpo {

// A fixed set of threads that share one loop at a time. They spin briefly, then sleep on a futex, so that a busy
// machine isn't stalled.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // threads >= 1; the calling thread is one of them
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  // Calls body(index) once for each index in [0, count), on any thread, and returns when all are done. Results must not
  // depend on which thread ran what: every output element belongs to exactly one index. An exception thrown by body is
  // rethrown here.
  void parallel_for(int count, const std::function<void(int)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starpo
