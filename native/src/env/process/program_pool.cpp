#include "env/process/program_pool.h"

#include <poll.h>

#include <algorithm>

#include "env/process/program.h"

namespace starpo {

using State = ProgramEpisode::State;
using Clock = std::chrono::steady_clock;

ProgramPool::ProgramPool(ProcessConfig config) : config_(std::move(config)) {}
ProgramPool::~ProgramPool() = default;

void ProgramPool::begin(ProgramEpisode& episode, nlohmann::json request) {
  close(episode);
  if (programs_.empty()) require_confirmed(config_);
  episode.request = std::move(request);
  episode.state = State::queued;
  episode.stepped = false;
  queued_.push_back(&episode);
  assign_queued();
}

void ProgramPool::step(ProgramEpisode& episode, const std::string& action) {
  if (episode.state == State::failed) return;  // ready() reports it
  episode.stepped = true;
  episode.program->send(episode, {{"step", action}});
}

void ProgramPool::close(ProgramEpisode& episode) {
  std::erase(queued_, &episode);
  if (episode.program) episode.program->remove(episode);
  episode.state = State::idle;
}

bool ProgramPool::ready(const ProgramEpisode& episode) {
  if (episode.state == State::failed) throw EnvironmentFailure(episode.failure, episode.isolated);
  return episode.state == State::answered;
}

void ProgramPool::update() {
  for (const auto& program : programs_) {
    const bool greeted = program->greeted();
    program->update();
    if (program->greeted() && !greeted) {
      hello_ = program->hello();
      started_once_ = true;
    }
    if (!program->failure().empty() && !program->greeted()) start_failure_ = program->failure();
    const auto declined = program->take_declined();
    queued_.insert(queued_.begin(), declined.begin(), declined.end());
  }
  const auto removed = std::erase_if(programs_, [](const auto& program) { return !program->failure().empty(); });
  if (!started_once_ && !start_failure_.empty())
    throw Error("environment_failed", "the command \"" + config_.command + "\" could not be started: " + start_failure_,
                "run the command in " + config_.directory + " to see why");
  // Episodes that wait for a program that can't be started any more would wait forever.
  if (removed > 0 && programs_.empty() && !start_failure_.empty()) fail_queued(start_failure_);
  start_failure_.clear();
  assign_queued();
  const bool have_no_room = std::ranges::all_of(
      programs_, [](const auto& program) { return program->greeted() && program->capacity() == 0; });
  if (!queued_.empty() && have_no_room) {
    fail_queued("it accepts no further episode");
    programs_.clear();  // a new process may have room
  }
}

void ProgramPool::fail_queued(const std::string& reason) {
  for (ProgramEpisode* episode : std::exchange(queued_, {})) {
    episode->state = State::failed;
    episode->failure = reason;
    episode->isolated = false;
  }
}

void ProgramPool::assign_queued() {
  while (!queued_.empty()) {
    ProgramEpisode& episode = *queued_.front();
    Program* program = find_room(episode);
    if (!program) return;
    queued_.erase(queued_.begin());
    program->add(episode);
  }
}

// Returns the process with the fewest episodes, and starts processes while all are in use.
Program* ProgramPool::find_room(const ProgramEpisode& next) {
  Program* best = nullptr;
  int starting = 0;
  for (const auto& program : programs_) {
    if (!program->greeted()) {
      ++starting;
    } else if (program->has_room_for(next)) {
      if (!best || program->episodes() < best->episodes()) best = program.get();
    }
  }
  const bool may_start = static_cast<int>(programs_.size()) < config_.processes &&
                         starting < static_cast<int>(queued_.size()) && (!best || best->episodes() > 0);
  if (!may_start) return best;
  programs_.push_back(std::make_unique<Program>(config_));
  return best;
}

void ProgramPool::wait(std::chrono::milliseconds limit) {
  // An episode that ended since the last update has left room.
  assign_queued();
  std::vector<pollfd> descriptors;
  auto until = Clock::now() + limit;
  for (const auto& program : programs_) {
    program->add_to_poll(descriptors);
    until = std::min(until, program->next_deadline());
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(std::max<std::int64_t>(0, left.count())));
  update();
}

}  // namespace starpo
