#include "env/process/process_environment.h"

#include <utility>

#include "env/action_name.h"

namespace starpo {

ProcessEnvironment::ProcessEnvironment(const ProcessConfig& config)
    : ProcessEnvironment(std::make_shared<ProgramPool>(config)) {}

ProcessEnvironment::ProcessEnvironment(std::shared_ptr<ProgramPool> pool) : pool_(std::move(pool)) {}

ProcessEnvironment::~ProcessEnvironment() { pool_->close(episode_); }

std::unique_ptr<Environment> ProcessEnvironment::clone() const {
  return std::unique_ptr<Environment>(new ProcessEnvironment(pool_));
}

std::vector<std::string> ProcessEnvironment::actions() const {
  return state_.actions ? *state_.actions : pool_->hello().actions;
}

void ProcessEnvironment::start_reset(std::uint64_t seed, const NoiseStream* noise) {
  started_ = success_ = false;
  state_ = {};
  nlohmann::json request{{"seed", seed}, {"split", split() == Split::train ? "train" : "validation"}};
  // 53 bits, so that every language reads the number exactly.
  if (noise) request["noise"] = static_cast<std::uint64_t>(NoiseStream(*noise).draw() * 0x1p53);
  pool_->begin(episode_, {{"reset", std::move(request)}});
}

void ProcessEnvironment::finish_reset() {
  episode_.state = ProgramEpisode::State::idle;
  state_ = parse_reset_answer(std::exchange(episode_.answer, {}));
  started_ = true;
}

void ProcessEnvironment::start_step(std::string_view action) {
  if (!started_) throw no_episode_error();
  pool_->step(episode_, std::string(action));
}

StepResult ProcessEnvironment::finish_step() {
  episode_.state = ProgramEpisode::State::idle;
  ProgramStep step = parse_step_answer(std::exchange(episode_.answer, {}));
  const bool changed = step.state.observation != state_.observation || step.state.board != state_.board;
  step.result.effective = step.effective.value_or(changed);
  state_ = std::move(step.state);
  success_ |= step.result.success;
  if (step.result.done) {
    started_ = false;
    pool_->close(episode_);  // makes room for another episode
  }
  return std::move(step.result);
}

}  // namespace starpo
