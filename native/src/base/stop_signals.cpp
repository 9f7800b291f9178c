#include "base/stop_signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace starpo {
namespace {

// Any thread may handle the signal while another reads the flag. Signal handlers may only use lock-free atomics.
std::atomic<bool> received = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void set_flag(int) { received = true; }

void set_flag_or_exit(int signal) {
  if (received.exchange(true)) _exit(128 + signal);
}

}  // namespace

void install_stop_handlers(SecondSignal second) {
  received = false;
  const auto handler = second == SecondSignal::exits_process ? set_flag_or_exit : set_flag;
  std::signal(SIGTERM, handler);
  std::signal(SIGINT, handler);
}

bool stop_signal_received() { return received; }

}  // namespace starpo
