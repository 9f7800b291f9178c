#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

namespace starpo {

// The end of a journal file.
struct JournalTail {
  std::int64_t complete_bytes = 0;   // up to and including the last newline
  std::int64_t truncated_bytes = 0;  // after the last newline
  std::int64_t last_seq = -1;        // of the last valid event; -1: no valid event
  std::int64_t invalid_lines = 0;    // complete lines after that event
};

// Reads the end of an events.jsonl. A missing file is treated as empty. Errors: journal_unreadable.
JournalTail read_journal_tail(const std::filesystem::path& events);

// Returns the last completed iteration of the latest process. If it has not completed any, returns the iteration that
// it started from. Errors: journal_unreadable.
int last_complete_iteration(const std::filesystem::path& events);

// Returns the labels of the evaluations since `iteration` was last completed, or since the start if it never was.
// Errors: journal_unreadable.
std::set<std::string> evaluated_labels(const std::filesystem::path& events, int iteration);

}  // namespace starpo
