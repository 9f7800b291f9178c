#include "journal/control_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>

namespace starpo {
namespace {

constexpr std::int64_t kMaxIteration = 1000000;

// Opens the file, because a network file system may cache the attributes of a name for a minute.
std::int64_t size_of(const std::filesystem::path& file) {
  struct stat status;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const bool known = ::fstat(descriptor, &status) == 0;
  ::close(descriptor);
  return known ? static_cast<std::int64_t>(status.st_size) : 0;
}

std::string read_range(const std::filesystem::path& file, std::int64_t begin, std::int64_t end) {
  std::string text(static_cast<std::size_t>(end - begin), '\0');
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const auto size = descriptor < 0 ? 0 : ::pread(descriptor, text.data(), text.size(), begin);
  if (descriptor >= 0) ::close(descriptor);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

bool is_id(const std::string& text) {
  constexpr auto allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
  return !text.empty() && text.size() <= 64 && text.find_first_not_of(allowed) == std::string::npos;
}

std::optional<Command> find_command(const std::string& name) {
  if (name == "pause") return Command::pause;
  if (name == "resume") return Command::resume;
  if (name == "checkpoint") return Command::checkpoint;
  if (name == "stop") return Command::stop;
  if (name == "pin") return Command::pin;
  if (name == "unpin") return Command::unpin;
  return std::nullopt;
}

std::string string_field(const nlohmann::json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
}

// Returns the command of a line. Logs the rejection of an invalid line in the journal.
std::optional<ControlCommand> parse(const nlohmann::json& json, Journal& journal) {
  const auto text = [&](const char* key) { return string_field(json, key); };
  const auto id = text("id");
  if (!is_id(id)) {
    journal.warning("ignored a line of control.jsonl: it has no valid id");
    return std::nullopt;
  }
  if (!json.contains("v") || json["v"] != 1) {
    journal.acknowledged(id, false, "v must be 1");
    return std::nullopt;
  }
  const auto command = find_command(text("command"));
  if (!command) {
    journal.acknowledged(id, false, "command must be pause, resume, checkpoint, stop, pin or unpin");
    return std::nullopt;
  }
  ControlCommand parsed{id, *command};
  if (*command == Command::pin || *command == Command::unpin) {
    const nlohmann::json::json_pointer place("/args/iteration");
    const auto iteration =
        json.contains(place) && json[place].is_number_integer() ? json[place].get<std::int64_t>() : -1;
    if (iteration < 0 || iteration > kMaxIteration) {
      journal.acknowledged(id, false, text("command") + " requires args.iteration, the iteration of a checkpoint");
      return std::nullopt;
    }
    parsed.iteration = static_cast<int>(iteration);
  }
  return parsed;
}

// Calls body for every complete line. Returns the number of bytes in these lines.
template <class F>
std::size_t for_each_line(std::string_view text, F body) {
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1)
    if (end > begin) body(nlohmann::json::parse(text.substr(begin, end - begin), nullptr, false));
  return begin;
}

}  // namespace

ControlReader::ControlReader(const std::filesystem::path& run_directory)
    : file_(run_directory / "control.jsonl"), offset_(size_of(file_)) {
  for_each_line(read_range(file_, 0, offset_),
                [this](const nlohmann::json& line) { seen_ids_.insert(string_field(line, "id")); });
}

std::vector<ControlCommand> ControlReader::poll(Journal& journal) {
  std::vector<ControlCommand> commands;
  const auto size = size_of(file_);
  if (size < offset_) {
    truncated_ = true;
    offset_ = 0;
  }
  if (size <= offset_) return commands;
  const auto begin = offset_;
  offset_ += static_cast<std::int64_t>(for_each_line(read_range(file_, begin, size), [&](const nlohmann::json& line) {
    const auto id = string_field(line, "id");
    const bool seen = !seen_ids_.insert(id).second;
    if (truncated_ && seen && !id.empty()) return;
    if (auto command = parse(line, journal)) commands.push_back(std::move(*command));
  }));
  return commands;
}

}  // namespace starpo
