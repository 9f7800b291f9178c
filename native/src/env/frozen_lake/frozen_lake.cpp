#include "env/frozen_lake/frozen_lake.h"

#include "env/action_name.h"
#include "fields/field_visitor.h"

namespace starpo {
namespace {

constexpr std::array<std::string_view, 4> kFrozenLakeActions{"Left", "Down", "Right", "Up"};

}  // namespace

void describe(FieldVisitor& visitor, FrozenLakeConfig& config) {
  visitor.integer("size", config.size, 2, 32);
  visitor.number("p", config.p, 0, 1);
  visitor.boolean("is_slippery", config.is_slippery);
  visitor.number("success_rate", config.success_rate, 0, 1);
  visitor.choice("observation_format", config.observation_format, {"grid", "coord", "grid_coord"});
}

FrozenLake::FrozenLake(const FrozenLakeConfig& config) : config_(config), random_(0) {}

std::unique_ptr<Environment> FrozenLake::clone() const { return std::make_unique<FrozenLake>(*this); }

void FrozenLake::reset(std::uint64_t seed, const NoiseStream* noise) {
  level_ = generate_frozen_lake(config_.size, config_.p, seed);
  random_ = NumpyRandom(seed);
  random_.random();  // Gymnasium draws the start cell although it has only one choice
  noise_ = noise ? std::optional(*noise) : std::nullopt;
  player_ = level_.start;
  active_ = true;
}

StepResult FrozenLake::step(std::string_view action) {
  if (!active_) throw no_episode_error();
  const auto index = find_action(action, kFrozenLakeActions);
  if (!index) return {.reward_is_integer = true};

  const auto outcomes =
      frozen_lake_outcomes(level_, player_, static_cast<Direction>(*index), config_.is_slippery, config_.success_rate);
  const int outcome = sample_outcome(outcomes, noise_ ? noise_->draw() : random_.random());
  const int next = outcomes.items[outcome].cell;
  const bool effective = next != player_;
  player_ = next;
  active_ = !ends_episode(level_, player_);
  StepResult result{
      .reward_is_integer = true, .done = !active_, .effective = effective, .valid = true, .success = success()};
  result.add_reward("goal", success() ? 1 : 0);
  result.flags.push_back({std::string(kStepFlags[0]), outcome != outcomes.intended});
  return result;
}

bool FrozenLake::success() const { return level_.size > 0 && player_ == level_.goal; }

std::vector<std::pair<std::string, std::string>> FrozenLake::idle_keys() const {
  if (config_.is_slippery) return {};
  return {{"success_rate", "is_slippery is false, so moves never slip"}};
}

std::optional<std::string> FrozenLake::board() const {
  std::string text;
  for (int cell = 0; cell < static_cast<int>(level_.holes.size()); ++cell) {
    if (cell > 0 && cell % level_.size == 0) text += '\n';
    const bool here = cell == player_;
    if (level_.holes[cell])
      text += here ? "X" : "O";
    else if (cell == level_.goal)
      text += here ? "√" : "G";
    else
      text += here ? "P" : "_";
  }
  return text;
}

std::string FrozenLake::coordinates() const {
  const auto place = [this](int cell) {
    return "(" + std::to_string(cell / level_.size) + ", " + std::to_string(cell % level_.size) + ")";
  };
  const auto size = std::to_string(level_.size);
  std::string text = "Board size: " + size + " rows x " + size + " cols (zero-indexed).";
  text += "\nStart: " + place(level_.start);
  text += "\nGoal: " + place(level_.goal);
  text += level_.holes[player_] ? "\nPlayer in hole: " : success() ? "\nPlayer on goal: " : "\nPlayer: ";
  text += place(player_);
  std::string holes;
  for (int cell = 0; cell < static_cast<int>(level_.holes.size()); ++cell)
    if (level_.holes[cell]) holes += (holes.empty() ? "\nHoles: " : ", ") + place(cell);
  return text + holes;
}

std::string FrozenLake::observation() const {
  if (level_.size == 0) return "";
  switch (config_.observation_format) {
    case LakeObservation::grid: return *board();
    case LakeObservation::coord: return coordinates();
    case LakeObservation::grid_coord: return "Coordinates: \n" + coordinates() + "\nGrid Map: \n" + *board();
  }
  return "";
}

std::vector<std::string> FrozenLake::actions() const { return {kFrozenLakeActions.begin(), kFrozenLakeActions.end()}; }

}  // namespace starpo
