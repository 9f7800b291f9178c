#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/thread_pool.h"

namespace starpo {

TEST_CASE("a loop runs every index once") {
  for (const int size : {1, 2, 3, 5}) {
    ThreadPool threads(size);
    CHECK(threads.size() == size);
    // Many short loops of changing lengths. A late worker of one must not affect the next.
    for (int loop = 0; loop < 2000; ++loop) {
      const int count = loop * 7 % 23;
      std::vector<std::atomic<int>> runs(count + 1);
      threads.parallel_for(count, [&](int i) { ++runs[i]; });
      bool once = runs[count] == 0;
      for (int i = 0; i < count; ++i) once &= runs[i] == 1;
      REQUIRE(once);
    }
  }
}

TEST_CASE("an exception in a loop reaches the caller, and the pool keeps working") {
  ThreadPool threads(3);
  for (int round = 0; round < 100; ++round) {
    CHECK_THROWS_AS(threads.parallel_for(50,
                                         [](int i) {
                                           if (i == 17) throw std::out_of_range("seventeen");
                                         }),
                    std::out_of_range);
    std::atomic<int> sum = 0;
    threads.parallel_for(10, [&](int i) { sum += i; });
    CHECK(sum == 45);
  }
}

TEST_CASE("a nested loop runs on the thread that starts it") {
  ThreadPool threads(2);
  std::atomic<int> sum = 0, elsewhere = 0;
  threads.parallel_for(4, [&](int) {
    const auto own = std::this_thread::get_id();
    threads.parallel_for(5, [&](int i) {
      sum += i;
      elsewhere += std::this_thread::get_id() != own;
    });
  });
  CHECK(sum == 40);
  CHECK(elsewhere == 0);
}

}  // namespace starpo
