#include "journal/journal_tail.h"

#include "targets.h"
#include "temporary_folder.h"

namespace starpo::fuzz {

// The input is an events.jsonl that a trainer finds.
void journal_tail(std::string_view input) {
  static const TemporaryFolder folder;
  const auto events = folder.path() / "events.jsonl";
  write_text(events, std::string(input));
  const auto tail = read_journal_tail(events);
  require(tail.whole_bytes + tail.cut_bytes == static_cast<std::int64_t>(input.size()), "every byte is whole or cut");
  require(tail.last_seq >= -1, "a sequence number is a number");
  require(last_complete_iteration(events) >= 0, "an iteration is a number");
}

}  // namespace starpo::fuzz
