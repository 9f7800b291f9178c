#include "journal/journal_tail.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"

namespace starpo {
namespace {

// Returns the seq of an event, or -1 for an invalid line.
std::int64_t seq_of(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return -1;
  const auto seq = json.find("seq");
  if (seq == json.end() || !seq->is_number_integer() || *seq < 0) return -1;
  return seq->get<std::int64_t>();
}

// Reads the lines of a file from the last to the first.
class BackwardReader {
 public:
  explicit BackwardReader(const std::filesystem::path& path)
      : file_(path, std::ios::binary | std::ios::ate), begin_(file_.tellg()) {}

  bool readable() const { return file_.good() && begin_ >= 0; }

  // Reads the next line, without its newline. Returns false after the first line of the file.
  bool next(std::string& line) {
    std::size_t newline;
    while ((newline = buffer_.rfind('\n')) == std::string::npos && begin_ > 0) {
      const std::int64_t count = std::min<std::int64_t>(begin_, 1 << 16);
      begin_ -= count;
      std::string block(static_cast<std::size_t>(count), '\0');
      file_.seekg(begin_).read(block.data(), count);
      buffer_.insert(0, block);
    }
    if (exhausted_) return false;
    exhausted_ = newline == std::string::npos;
    line = exhausted_ ? std::move(buffer_) : buffer_.substr(newline + 1);
    buffer_.resize(exhausted_ ? 0 : newline);
    return true;
  }

 private:
  std::ifstream file_;
  std::int64_t begin_;
  std::string buffer_;
  bool exhausted_ = false;
};

bool file_exists(const std::filesystem::path& events) {
  std::error_code error;
  return std::filesystem::exists(events, error);
}

Error unreadable(const std::filesystem::path& events) {
  return Error("journal_unreadable", events.string() + " can't be read",
               "check that it is a regular file and that you have permission to read it");
}

// Calls use(event) for the events from the last complete line to the first, until it returns false. Skips invalid
// lines.
template <class Use>
void for_each_event_backward(const std::filesystem::path& events, const Use& use) {
  if (!file_exists(events)) return;
  BackwardReader reader(events);
  if (!reader.readable()) throw unreadable(events);
  std::string line;
  reader.next(line);  // bytes after the last newline
  while (reader.next(line)) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (event.is_object() && !use(event)) return;
  }
}

}  // namespace

JournalTail read_journal_tail(const std::filesystem::path& events) {
  JournalTail tail;
  if (!file_exists(events)) return tail;
  std::error_code error;
  const auto size = std::filesystem::file_size(events, error);
  BackwardReader reader(events);
  if (error || !reader.readable()) throw unreadable(events);

  std::string line;
  reader.next(line);
  tail.truncated_bytes = static_cast<std::int64_t>(line.size());
  tail.complete_bytes = static_cast<std::int64_t>(size) - tail.truncated_bytes;
  if (tail.complete_bytes == 0) return tail;
  while (reader.next(line)) {
    tail.last_seq = seq_of(line);
    if (tail.last_seq >= 0) break;
    ++tail.invalid_lines;
  }
  return tail;
}

int last_complete_iteration(const std::filesystem::path& events) {
  int last = 0;
  for_each_event_backward(events, [&](const nlohmann::json& event) {
    const auto type = event.value("type", nlohmann::json()), iteration = event.value("iteration", nlohmann::json());
    const bool reports = type == "iteration" || type == "started";
    if (!reports || !iteration.is_number_integer() || iteration < 0) return true;
    last = iteration.get<int>();
    return false;
  });
  return last;
}

std::set<std::string> evaluated_labels(const std::filesystem::path& events, int iteration) {
  std::set<std::string> labels;
  for_each_event_backward(events, [&](const nlohmann::json& event) {
    if (event.value("iteration", nlohmann::json()) != iteration) return true;
    const auto type = event.value("type", nlohmann::json());
    const auto label = event.value("label", nlohmann::json());
    if (type == "evaluation" && label.is_string()) labels.insert(label.get<std::string>());
    return type != "iteration";
  });
  return labels;
}

}  // namespace starpo
