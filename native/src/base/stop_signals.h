#pragma once

namespace starpo {

// The effect of a second signal: none, or the process exits at once with status 128 + signal number.
enum class SecondSignal { changes_nothing, ends_process };

// Makes SIGTERM and SIGINT set a flag instead of ending the process. Clears the flag.
void listen_for_stop_signals(SecondSignal);

bool stop_signaled();

}  // namespace starpo
