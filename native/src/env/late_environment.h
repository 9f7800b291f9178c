#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "env/environment.h"

namespace starpo {

// The environment failed in one episode, which therefore doesn't measure the policy.
class EnvironmentFailure : public Error {
 public:
  explicit EnvironmentFailure(const std::string& reason, bool is_shared = false)
      : Error("environment_failed", reason, "check the environment's program"), is_shared_(is_shared) {}

  // Whether another episode of the same process may have caused it.
  bool is_shared() const { return is_shared_; }

 private:
  bool is_shared_;
};

// An environment outside of this process, which may answer late. start_reset() and start_step() send a request, wait()
// receives answers, and when ready() returns true, finish_reset() and finish_step() take this episode's answer. ready()
// and the finish functions throw EnvironmentFailure if the environment failed. reset() and step() wait for the answer.
class LateEnvironment : public Environment {
 public:
  virtual void start_reset(std::uint64_t seed, const NoiseStream* noise) = 0;
  virtual void finish_reset() = 0;
  virtual void start_step(std::string_view action) = 0;
  virtual StepResult finish_step() = 0;
  virtual bool ready() = 0;
  // Plays the next episode in a process without other episodes. Call before start_reset().
  virtual void isolate() = 0;
  // Blocks until an answer to this or another copy has arrived or the time is over.
  virtual void wait(std::chrono::milliseconds limit) = 0;

  void reset(std::uint64_t seed, const NoiseStream* noise) final {
    start_reset(seed, noise);
    wait_until_ready();
    finish_reset();
  }
  StepResult step(std::string_view action) final {
    start_step(action);
    wait_until_ready();
    return finish_step();
  }
  LateEnvironment* late() final { return this; }

 private:
  void wait_until_ready() {
    while (!ready()) wait(std::chrono::seconds(1));
  }
};

}  // namespace starpo
