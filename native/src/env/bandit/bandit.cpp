#include "env/bandit/bandit.h"

#include "env/action_name.h"
#include "env/reference/python_number.h"
#include "fields/field_visitor.h"

namespace starpo {

void describe(FieldVisitor& visitor, BanditConfig& config) {
  constexpr double largest = 1e9;
  visitor.text("lo_arm_name", config.lo_arm_name, {.min_length = 1, .max_length = 32});
  visitor.text("hi_arm_name", config.hi_arm_name, {.min_length = 1, .max_length = 32});
  visitor.number("lo_arm_score", config.lo_arm_score, -largest, largest);
  visitor.number("hi_arm_loscore", config.hi_arm_loscore, -largest, largest);
  visitor.number("hi_arm_hiscore", config.hi_arm_hiscore, -largest, largest);
  visitor.number("hi_arm_hiscore_prob", config.hi_arm_hiscore_prob, 0, 1);
  visitor.check("hi_arm_name", [&] {
    return equal_ignoring_case(config.lo_arm_name, config.hi_arm_name)
               ? "must differ from lo_arm_name, so that responses can name one arm"
               : "";
  });
}

Bandit::Bandit(const BanditConfig& config) : config_(config), random_(0) {}

std::unique_ptr<Environment> Bandit::clone() const { return std::make_unique<Bandit>(*this); }

void Bandit::reset(std::uint64_t seed, const NoiseStream* noise) {
  random_ = NumpyRandom(seed);
  const bool low_first = random_.random() < 0.5;
  high_ = {!low_first, low_first};
  noise_ = noise ? std::optional(*noise) : std::nullopt;
  observation_.clear();
  success_ = false;
  active_ = true;
}

StepResult Bandit::step(std::string_view action) {
  if (!active_) throw no_episode_error();
  const auto names = arms();
  const auto index = find_action(action, names);
  if (!index) return {.reward_is_integer = true};

  success_ = high_[*index];
  double reward = config_.lo_arm_score;
  if (success_) {
    const double draw = noise_ ? noise_->draw() : random_.random();
    reward = draw < config_.hi_arm_hiscore_prob ? config_.hi_arm_hiscore : config_.hi_arm_loscore;
  }
  observation_ = names[*index] + ": " + format_python_number(reward, false) + " points";
  active_ = false;
  StepResult result{.done = true, .effective = true, .valid = true, .success = success_};
  result.add_reward("payout", reward);
  return result;
}

std::optional<Demonstration> Bandit::demonstrate(const DemonstrationRequest& request) const {
  const auto names = arms();
  const std::string arm = names[request.draws.below(static_cast<int>(names.size()))];
  switch (request.style) {
    case DemonstrationStyle::plain: return Demonstration{"I try " + arm + ".", {arm}};
    case DemonstrationStyle::positions: return Demonstration{arm + " pays more.", {arm}};
    case DemonstrationStyle::careful: return Demonstration{"choose the arm: " + arm + " pays more.", {arm}};
  }
  return std::nullopt;
}

std::string Bandit::observation() const { return observation_; }

std::vector<std::string> Bandit::arms() const {
  const auto name = [this](bool high) { return high ? config_.hi_arm_name : config_.lo_arm_name; };
  return {name(high_[0]), name(high_[1])};
}

std::vector<std::pair<std::string, std::string>> Bandit::placeholders() const {
  const auto names = arms();
  return {{"arm_1", names[0]}, {"arm_2", names[1]}};
}

}  // namespace starpo
