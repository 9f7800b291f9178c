#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/stop_signals.h"

using namespace starpo;

namespace {

struct StopSignals {
  ~StopSignals() {
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
  }

  // Returns the exit status of a process that handles two signals. If it is still alive, it exits with 0 if a stop was
  // requested.
  static int status_after_two(SecondSignal second) {
    const pid_t child = ::fork();
    if (child == 0) {
      install_stop_handlers(second);
      std::raise(SIGTERM);
      std::raise(SIGINT);
      ::_exit(stop_signal_received() ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
  }
};

}  // namespace

TEST_CASE_FIXTURE(StopSignals, "a signal on any thread requests a stop, until handlers are installed again") {
  for (const int signal : {SIGTERM, SIGINT}) {
    install_stop_handlers(SecondSignal::exits_process);
    CHECK_FALSE(stop_signal_received());
    // Only the signal synchronizes the two threads. If the flag were not thread-safe,
    // `nightly:sanitize -- --thread` would report a data race.
    std::thread other([signal] { std::raise(signal); });
    while (!stop_signal_received()) std::this_thread::yield();
    other.join();
  }
}

TEST_CASE_FIXTURE(StopSignals, "a second signal ends the process immediately or is ignored") {
  CHECK(status_after_two(SecondSignal::exits_process) == 128 + SIGINT);
  CHECK(status_after_two(SecondSignal::ignored) == 0);
}
