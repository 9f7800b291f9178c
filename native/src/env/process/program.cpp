#include "env/process/program.h"

#include <algorithm>
#include <cmath>

#include "env/process/messages.h"
#include "files/shallow_json.h"

namespace starpo {
namespace {

using Clock = std::chrono::steady_clock;
using json = nlohmann::json;

Clock::duration seconds(double value) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
}

std::string duration_text(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

// Invalid UTF-8 in an action is replaced, since a response may end within a sequence.
std::string dump(const json& message) { return message.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

Program::Program(const ProcessConfig& config)
    : config_(config),
      process_(config.command, config.directory),
      start_deadline_(Clock::now() + seconds(config.start_seconds)) {
  process_.write_line(dump({{"hello", {{"version", kProcessProtocolVersion}}}}));
}

Clock::time_point Program::next_deadline() const {
  if (!greeted_) return start_deadline_;
  auto next = Clock::time_point::max();
  for (const auto& [id, episode] : episodes_)
    if (episode->state == ProgramEpisode::State::waiting) next = std::min(next, episode->deadline);
  return next;
}

bool Program::has_room_for(const ProgramEpisode& next) const {
  const bool plays_isolated = episodes() == 1 && episodes_.begin()->second->isolated;
  return !plays_isolated && episodes() < (next.isolated ? std::min(1, capacity_) : capacity_);
}

void Program::add(ProgramEpisode& episode) {
  episode.program = this;
  episode.id = next_id_++;
  episodes_[episode.id] = &episode;
  send(episode, episode.request);
}

void Program::send(ProgramEpisode& episode, json request) {
  request["id"] = episode.id;
  episode.state = ProgramEpisode::State::waiting;
  episode.sent = Clock::now();
  episode.deadline = episode.sent + seconds(config_.answer_seconds);
  process_.write_line(dump(request));
}

void Program::remove(ProgramEpisode& episode) {
  episodes_.erase(episode.id);
  episode.program = nullptr;
  if (failure().empty()) process_.write_line(dump({{"id", episode.id}, {"close", true}}));
}

void Program::update() {
  for (const std::string& line : process_.exchange()) {
    last_line_ = Clock::now();
    read_line(line);
    if (!failure().empty()) break;
  }
  if (failure().empty()) check_deadlines();
  if (!failure().empty()) fail_all();
}

void Program::read_line(const std::string& line) {
  json message = parse_shallow_json(line);
  if (!message.is_object()) {
    process_.end("it wrote a line that is not a JSON object, or nested too deeply: " + excerpt(line) +
                 (line.find("NaN") != std::string::npos || line.find("Infinity") != std::string::npos
                      ? " (NaN and Infinity are not JSON)"
                      : " (write other output to standard error)"));
  } else if (!greeted_) {
    read_hello(message);
  } else {
    read_answer(std::move(message));
  }
}

void Program::read_hello(const json& message) {
  try {
    hello_ = parse_hello(message);
    greeted_ = true;
    capacity_ = std::min(hello_.episodes, config_.episodes_per_process);
  } catch (const EnvironmentFailure& failure) {
    process_.end(failure.what());
  }
}

void Program::read_answer(json message) {
  const auto key = message.find("id");
  const auto id = key == message.end() ? std::nullopt : integer_in(*key);
  if (!id || *id < 1 || *id >= next_id_)
    return process_.end("it answered with an unknown id: " + excerpt(dump(message)));
  const auto found = episodes_.find(*id);
  if (found == episodes_.end()) return;  // a late answer to an episode that has ended
  ProgramEpisode& episode = *found->second;
  if (episode.state != ProgramEpisode::State::waiting)
    return fail(episode, "it sent two answers to one request: " + excerpt(dump(message)));
  if (message.contains("busy")) return decline(episode);
  if (const auto error = message.find("error"); error != message.end())
    return fail(episode, "it reported an error: " +
                             (error->is_string() ? printable(error->get<std::string>(), 300) : excerpt(dump(*error))));
  episode.answer = std::move(message);
  episode.state = ProgramEpisode::State::answered;
}

void Program::decline(ProgramEpisode& episode) {
  if (episode.stepped) return fail(episode, "it was busy in the middle of an episode");
  episodes_.erase(episode.id);
  episode.program = nullptr;
  episode.state = ProgramEpisode::State::queued;
  capacity_ = std::min(capacity_, episodes());
  declined_.push_back(&episode);
}

void Program::check_deadlines() {
  const auto now = Clock::now();
  if (!greeted_) {
    if (now > start_deadline_) process_.end("it did not answer hello within " + duration_text(config_.start_seconds));
    return;
  }
  const std::string reason = "it did not answer within " + duration_text(config_.answer_seconds);
  std::vector<ProgramEpisode*> late;
  for (const auto& [id, episode] : episodes_)
    if (episode->state == ProgramEpisode::State::waiting && now > episode->deadline) late.push_back(episode);
  // A process that wrote nothing since the request hangs. One that answers other episodes keeps them.
  if (std::ranges::any_of(late, [&](const ProgramEpisode* episode) { return last_line_ < episode->sent; }))
    return process_.end(reason);
  for (ProgramEpisode* episode : late) fail(*episode, reason);
}

void Program::fail(ProgramEpisode& episode, const std::string& reason, bool is_shared) {
  remove(episode);
  episode.state = ProgramEpisode::State::failed;
  episode.failure = reason;
  episode.isolated = is_shared;
}

void Program::fail_all() {
  const bool is_shared = episodes() > 1;
  while (!episodes_.empty()) fail(*episodes_.begin()->second, failure(), is_shared);
}

}  // namespace starpo
