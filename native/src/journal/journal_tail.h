#pragma once

#include <cstdint>
#include <filesystem>

namespace starpo {

// What a journal ends with.
struct JournalTail {
  std::int64_t whole_bytes = 0;    // up to and with the last newline
  std::int64_t cut_bytes = 0;      // after it
  std::int64_t last_seq = -1;      // of the last whole line that is an event; -1: none
  std::int64_t garbage_lines = 0;  // whole lines after that one
};

// Reads an events.jsonl from its end; one that isn't there is empty. Errors: journal_unreadable.
JournalTail read_journal_tail(const std::filesystem::path& events);

// The newest complete iteration of the newest process; where it has none yet, the one that it goes on after. Errors:
// journal_unreadable.
int last_complete_iteration(const std::filesystem::path& events);

}  // namespace starpo
