#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/late_environment.h"
#include "env/process/messages.h"
#include "env/process/program_pool.h"

namespace starpo {

// An environment that is a program of the user. Copies share the processes, but not the episode.
class ProcessEnvironment final : public LateEnvironment {
 public:
  explicit ProcessEnvironment(const ProcessConfig&);
  ~ProcessEnvironment() override;

  // Returns an environment without an episode, because a program can't copy one.
  std::unique_ptr<Environment> clone() const override;
  std::string observation() const override { return state_.observation; }
  std::vector<std::string> actions() const override;
  bool success() const override { return success_; }
  std::optional<std::string> board() const override { return state_.board; }
  std::optional<std::string> anchor() const override { return state_.anchor; }

  void start_reset(std::uint64_t seed, const NoiseStream*) override;
  void finish_reset() override;
  void start_step(std::string_view action) override;
  StepResult finish_step() override;
  void isolate() override { episode_.isolated = true; }
  bool ready() override { return ProgramPool::ready(episode_); }
  void wait(std::chrono::milliseconds limit) override { pool_->wait(limit); }

 private:
  explicit ProcessEnvironment(std::shared_ptr<ProgramPool>);

  std::shared_ptr<ProgramPool> pool_;
  ProgramEpisode episode_;
  ProgramState state_;
  bool started_ = false, success_ = false;
};

}  // namespace starpo
