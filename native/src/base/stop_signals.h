#pragma once

namespace starpo {

// The effect of a second signal: it is ignored, or the process exits immediately with status 128 + signal number.
enum class SecondSignal { ignored, exits_process };

// Installs handlers by which SIGTERM and SIGINT set a flag instead of ending the process. Clears the flag.
void install_stop_handlers(SecondSignal);

// Returns the flag.
bool stop_signal_received();

}  // namespace starpo
