#include "env/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "env/process/messages.h"

namespace starpo {
namespace {

constexpr std::size_t kMaxErrorText = 4096;
constexpr std::size_t kMaxReadPerExchange = std::size_t{4} << 20;  // a program that never stops writing can't block
constexpr int kLifeline = 3;

// The subshell kills the process group, itself included, when the other end of the lifeline closes: when this process
// ends the program, and when this process dies.
constexpr const char* kScript =
    "(read -r line <&3; kill -KILL 0) >/dev/null 2>&1 &\n"
    "cd -- \"$1\" || exit 126\n"
    "exec /bin/sh -c \"$2\" 3<&-";

// The environment variable with the folder of the app's own programs, such as starpo-openenv. It is appended to PATH.
constexpr const char* kPrograms = "STARPO_PROGRAMS";

// The variables that a program inherits. Tokens and settings of other programs stay private.
constexpr std::array kInherited{"PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ"};

Error start_error(const std::string& problem, int error_number) {
  return Error("environment_failed", problem + ": " + std::strerror(error_number),
               "close other programs, or raise the limits on processes and open files (ulimit -u, ulimit -n)");
}

// A pipe whose ends close on exec.
struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (::pipe(ends) != 0) throw start_error("a pipe to a program could not be created", errno);
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    // dup2 to the descriptors 0 to 3 must not overwrite an end that is still needed.
    for (int& end : ends) {
      if (end > kLifeline) continue;
      const int moved = ::fcntl(end, F_DUPFD_CLOEXEC, kLifeline + 1);
      if (moved < 0) throw start_error("a pipe to a program could not be created", errno);
      ::close(end);
      end = moved;
    }
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  int take(int index) { return std::exchange(ends[index], -1); }
};

void make_nonblocking(int descriptor) { ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK); }

void close_if_open(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

std::vector<std::string> environment_variables() {
  std::vector<std::string> variables;
  for (const char* name : kInherited)
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
  const char* programs = std::getenv(kPrograms);
  if (programs && *programs) {
    const auto path = std::ranges::find_if(variables, [](const auto& each) { return each.starts_with("PATH="); });
    if (path != variables.end()) *path += std::string(":") + programs;
  }
  variables.emplace_back("PYTHONUNBUFFERED=1");  // otherwise Python keeps an answer until its buffer is full
  return variables;
}

// Returns a negative value at the end of the input or after an error, 0 if nothing is available, else the number of
// bytes.
ssize_t read_available(int descriptor, std::string& text) {
  char buffer[65536];
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    if (count <= 0) return -1;
    text.append(buffer, static_cast<std::size_t>(count));
    return count;
  }
}

// Returns the last line of an error output that isn't part of a stack trace: Node prints its trace and version after
// the message. Without such a line, returns the last line that isn't blank.
std::string last_message(std::string_view text) {
  std::string_view last;
  while (!text.empty()) {
    const std::size_t at = text.rfind('\n') + 1;
    std::string_view line = text.substr(at);
    text = text.substr(0, at == 0 ? 0 : at - 1);
    while (!line.empty() && std::strchr("\r \t", line.back())) line.remove_suffix(1);
    if (line.empty()) continue;
    if (last.empty()) last = line;
    if (!std::strchr(" \t}", line.front()) && !line.starts_with("Node.js v")) return std::string(line);
  }
  return std::string(last);
}

}  // namespace

ChildProcess::ChildProcess(const std::string& command, const std::string& directory) {
  Pipe input, output, errors, lifeline;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.ends[0], 0);
  posix_spawn_file_actions_adddup2(&actions, output.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, errors.ends[1], 2);
  posix_spawn_file_actions_adddup2(&actions, lifeline.ends[0], kLifeline);
  short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
#ifdef __APPLE__
  flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#else
  posix_spawn_file_actions_addclosefrom_np(&actions, kLifeline + 1);
#endif
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t defaults, unblocked;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigemptyset(&unblocked);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &unblocked);
  posix_spawnattr_setflags(&attributes, flags);

  // A program that has exited must not end this process through a write to its input.
  ::signal(SIGPIPE, SIG_IGN);

  std::vector<std::string> variables = environment_variables();
  std::vector<char*> environment;
  for (auto& each : variables) environment.push_back(each.data());
  environment.push_back(nullptr);
  std::array<std::string, 6> words{"sh", "-c", kScript, "sh", directory, command};
  std::array<char*, 7> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  const int error = posix_spawn(&pid_, "/bin/sh", &actions, &attributes, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw start_error("the command \"" + command + "\" could not be started", error);

  input_ = input.take(1);
  output_ = output.take(0);
  errors_ = errors.take(0);
  lifeline_ = lifeline.take(1);
  for (const int descriptor : {input_, output_, errors_}) make_nonblocking(descriptor);
}

ChildProcess::~ChildProcess() {
  close_if_open(input_);
  kill_group();
  close_if_open(output_);
  close_if_open(errors_);
}

void ChildProcess::write_line(std::string_view line) {
  queued_.append(line);
  queued_ += '\n';
  write_queued();
}

std::vector<std::string> ChildProcess::exchange() {
  std::vector<std::string> lines;
  if (!failure_.empty()) return lines;
  write_queued();
  read_errors();
  read_output();
  take_lines(lines);
  const bool too_long = std::ranges::any_of(lines, [](const std::string& line) { return line.size() > kMaxLine; });
  if (too_long || received_.size() > kMaxLine) {
    lines.clear();
    end("it wrote a line of more than 1 MB");
  } else if (output_ended_ && lines.empty()) {  // the caller reads the last lines first
    const std::string cut = received_.empty() ? "" : " in the middle of a line";
    end(exit_reason() + cut);
  }
  return lines;
}

void ChildProcess::write_queued() {
  while (!queued_.empty() && input_ >= 0) {
    const ssize_t written = ::write(input_, queued_.data(), queued_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      // A full pipe is written later. A closed one belongs to a program that has exited or will time out.
      if (errno != EAGAIN && errno != EWOULDBLOCK) close_if_open(input_);
      return;
    }
    queued_.erase(0, static_cast<std::size_t>(written));
  }
}

void ChildProcess::read_output() {
  for (std::size_t total = 0; total < kMaxReadPerExchange && received_.size() <= kMaxLine;) {
    const ssize_t count = read_available(output_, received_);
    if (count < 0) output_ended_ = true;
    if (count <= 0) return;
    total += static_cast<std::size_t>(count);
    // The limit applies to one line, not to the lines of many episodes.
    if (received_.size() > kMaxLine && received_.find('\n') != std::string::npos) return;
  }
}

void ChildProcess::read_errors() {
  for (std::size_t total = 0; errors_ >= 0 && total < kMaxReadPerExchange;) {
    const ssize_t count = read_available(errors_, error_text_);
    if (error_text_.size() > kMaxErrorText) error_text_.erase(0, error_text_.size() - kMaxErrorText);
    if (count < 0) close_if_open(errors_);
    if (count <= 0) return;
    total += static_cast<std::size_t>(count);
  }
}

void ChildProcess::take_lines(std::vector<std::string>& lines) {
  std::size_t begin = 0;
  for (std::size_t at; (at = received_.find('\n', std::max(begin, searched_))) != std::string::npos; begin = at + 1)
    lines.push_back(received_.substr(begin, at - begin));
  received_.erase(0, begin);
  searched_ = received_.size();
}

// Waits for the exit, because the pipe closes a moment before.
std::string ChildProcess::exit_reason() {
  constexpr int most_milliseconds = 200;
  if (const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)); process >= 0) {
    pollfd exits{process, POLLIN, 0};
    ::poll(&exits, 1, most_milliseconds);
    ::close(process);
  }
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return "it closed its standard output";
  const pid_t group = std::exchange(pid_, -1);
  ::kill(-group, SIGKILL);
  if (WIFSIGNALED(status)) return "it was killed by signal " + std::to_string(WTERMSIG(status));
  return "it exited with status " + std::to_string(WEXITSTATUS(status));
}

void ChildProcess::end(const std::string& reason) {
  if (!failure_.empty()) return;
  kill_group();
  read_errors();
  failure_ = reason;
  const std::string last = last_message(error_text_);
  if (!last.empty()) failure_ += "; its last error output is: " + printable(last, 300);
}

void ChildProcess::kill_group() {
  close_if_open(lifeline_);
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
}

void ChildProcess::add_to_poll(std::vector<pollfd>& descriptors) const {
  if (!failure_.empty()) return;
  descriptors.push_back({output_, POLLIN, 0});
  if (errors_ >= 0) descriptors.push_back({errors_, POLLIN, 0});
  if (input_ >= 0 && !queued_.empty()) descriptors.push_back({input_, POLLOUT, 0});
}

}  // namespace starpo
