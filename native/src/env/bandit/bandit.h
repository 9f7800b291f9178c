#pragma once

#include <array>
#include <string>

#include "env/environment.h"
#include "env/reference/numpy_random.h"

namespace starpo {

class FieldVisitor;

// RAGEN's env_config keys: the low arm always pays the same, the high arm a lot or nothing.
struct BanditConfig {
  std::string lo_arm_name, hi_arm_name;
  double lo_arm_score = 0;
  double hi_arm_loscore = 0;
  double hi_arm_hiscore = 0;
  double hi_arm_hiscore_prob = 0;
};

// Errors: config_invalid, beyond what the fields say: two names that differ in case alone.
void describe(FieldVisitor&, BanditConfig&);

// RAGEN's two-armed bandit: one pull. Success is having pulled the high arm, whatever it paid.
class Bandit final : public Environment {
 public:
  explicit Bandit(const BanditConfig&);

  std::unique_ptr<Environment> clone() const override;
  void reset(std::uint64_t seed, const NoiseStream* noise) override;
  StepResult step(std::string_view action) override;
  std::string observation() const override;  // empty before the pull: the prompt names the arms
  std::vector<std::string> actions() const override { return arms(); }
  std::vector<std::pair<std::string, std::string>> placeholders() const override;
  std::vector<std::string> arms() const override;
  bool success() const override { return success_; }
  std::optional<Demonstration> demonstrate(const DemonstrationRequest&) const override;

 private:
  BanditConfig config_;
  NumpyRandom random_;                     // the arms' order, and the payouts where there is no noise
  std::optional<NoiseStream> noise_;       // the payouts
  std::array<bool, 2> high_{false, true};  // by the order shown
  std::string observation_;
  bool success_ = false;
  bool active_ = false;
};

}  // namespace starpo
