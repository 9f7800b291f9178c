#pragma once

namespace starpo {

// What a second signal does: nothing more than the first did, or the process ends at once, with status 128 and the
// signal's number.
enum class SecondSignal { changes_nothing, ends_process };

// From now on SIGTERM and SIGINT ask the process to stop where they would end it. One that came earlier is forgotten.
void listen_for_stop_signals(SecondSignal);

bool stop_signalled();

}  // namespace starpo
