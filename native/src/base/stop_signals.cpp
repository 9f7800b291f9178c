#include "base/stop_signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace starpo {
namespace {

// Any thread may handle the signal while another reads the flag. Signal handlers may only use lock-free atomics.
std::atomic<bool> signaled = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void note_signal(int) { signaled = true; }

void note_signal_or_end(int signal) {
  if (signaled.exchange(true)) _exit(128 + signal);
}

}  // namespace

void listen_for_stop_signals(SecondSignal second) {
  signaled = false;
  const auto handler = second == SecondSignal::ends_process ? note_signal_or_end : note_signal;
  std::signal(SIGTERM, handler);
  std::signal(SIGINT, handler);
}

bool stop_signaled() { return signaled; }

}  // namespace starpo
