#include "env/sokoban/sokoban.h"

#include <set>

#include "env/action_name.h"
#include "env/sokoban/generator.h"
#include "fields/field_visitor.h"

namespace starpo {
namespace {

constexpr std::array<std::string_view, kSokobanDirections> kSokobanActions{"Up", "Down", "Left", "Right"};

}  // namespace

void describe(FieldVisitor& visitor, SokobanSymbols& symbols) {
  for (std::size_t i = 0; i < symbols.size(); ++i)
    visitor.text(std::to_string(i), symbols[i], {.pattern = "\\S+", .min_length = 1, .max_length = 8});
}

void describe(FieldVisitor& visitor, SokobanConfig& config) {
  visitor.integer("dim_x", config.dim_x, 5, 32);
  visitor.integer("dim_y", config.dim_y, 5, 32);
  visitor.integer("num_boxes", config.num_boxes, 1, kMaxSokobanBoxes);
  visitor.integer("max_steps", config.max_steps, 1, 10000);
  visitor.integer("search_depth", config.search_depth, 3, 1000);
  visitor.section("grid_lookup", config.grid_lookup);
  visitor.check("num_boxes", [&] {
    const int inside = (config.dim_x - 2) * (config.dim_y - 2);
    return config.num_boxes > inside - 2
               ? "must leave at least two of the " + std::to_string(inside) + " cells inside the walls free"
               : "";
  });
  visitor.check("grid_lookup", [&] {
    const std::set<std::string> different(config.grid_lookup.begin(), config.grid_lookup.end());
    return different.size() < config.grid_lookup.size()
               ? "must not use a symbol twice, so that observations are unambiguous"
               : "";
  });
}

Sokoban::Sokoban(const SokobanConfig& config) : config_(config) {}

std::unique_ptr<Environment> Sokoban::clone() const { return std::make_unique<Sokoban>(*this); }

void Sokoban::reset(std::uint64_t seed, const NoiseStream*) {
  const SokobanSize size{.rows = config_.dim_x,
                         .columns = config_.dim_y,
                         .boxes = config_.num_boxes,
                         .search_depth = config_.search_depth};
  level_ = generate_sokoban(size, seed).level;
  live_cells_ = live_cells(level_);
  boxes_on_targets_ = 0;
  steps_ = 0;
  active_ = true;
}

StepResult Sokoban::step(std::string_view action) {
  if (!active_) throw no_episode_error();
  const auto index = find_action(action, kSokobanActions);
  if (!index) return {.reward_is_integer = true};

  const bool moved = push(level_, static_cast<SokobanDirection>(*index)).player;
  const int boxes_before = boxes_on_targets_;
  boxes_on_targets_ = config_.num_boxes - targets_without_box(level_);
  active_ = !success() && ++steps_ < config_.max_steps;
  StepResult result{.done = !active_, .effective = moved, .valid = true, .success = success()};
  // Adds in the order of gym-sokoban, so that the sum is bit-identical.
  result.add_reward("step", -0.1);
  if (boxes_on_targets_ > boxes_before) result.add_reward("box", 1);
  if (boxes_on_targets_ < boxes_before) result.add_reward("box", -1);
  if (success()) result.add_reward("solved", 10);
  result.flags.push_back({std::string(kStepFlags[0]), has_lost_box(level_, live_cells_)});
  return result;
}

bool Sokoban::success() const { return config_.num_boxes > 0 && boxes_on_targets_ == config_.num_boxes; }

std::string Sokoban::observation() const { return sokoban_text(level_, config_.grid_lookup); }

std::optional<std::string> Sokoban::board() const { return sokoban_text(level_, {"#", "_", "O", "√", "X", "P", "S"}); }

std::vector<std::string> Sokoban::actions() const { return {kSokobanActions.begin(), kSokobanActions.end()}; }

}  // namespace starpo
