#include "journal/journal_tail.h"

#include "targets.h"
#include "temporary_folder.h"

namespace starpo::fuzz {

// The input is an existing events.jsonl.
void journal_tail(std::string_view input) {
  static const TemporaryFolder folder;
  const auto events = folder.path() / "events.jsonl";
  write_text(events, std::string(input));
  const auto tail = read_journal_tail(events);
  require(tail.complete_bytes + tail.truncated_bytes == static_cast<std::int64_t>(input.size()),
          "every byte is in a complete or a truncated line");
  require(tail.last_seq >= -1, "the sequence number is at least -1");
  require(last_complete_iteration(events) >= 0, "the iteration is not negative");
}

}  // namespace starpo::fuzz
