#include "env/sokoban/generator.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <unordered_set>

#include "base/counted.h"
#include "base/error.h"
#include "env/reference/sip_hash.h"

namespace starpo {
namespace {

struct Place {
  int row, column;
};

// The cells of a 3 x 3 square that one step of the topology turns into floor.
constexpr std::array<std::array<std::array<bool, 3>, 3>, 5> kMasks{{
    {{{0, 0, 0}, {1, 1, 1}, {0, 0, 0}}},
    {{{0, 1, 0}, {0, 1, 0}, {0, 1, 0}}},
    {{{0, 0, 0}, {1, 1, 0}, {0, 1, 0}}},
    {{{0, 0, 0}, {1, 1, 0}, {1, 1, 0}}},
    {{{0, 0, 0}, {0, 1, 1}, {0, 1, 0}}},
}};

SokobanLevel draw_topology(const SokobanSize& size, PythonRandom& random) {
  constexpr std::array<Place, 4> directions{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  SokobanLevel room{.rows = size.rows, .columns = size.columns, .fixed = {}, .cells = {}, .player = 0};
  room.fixed.assign(static_cast<std::size_t>(size.rows) * size.columns, SokobanCell::wall);
  const int steps = static_cast<int>(1.7 * (size.rows + size.columns));
  Place direction = directions[random.below(4)];
  Place place{};
  place.row = 1 + static_cast<int>(random.below(size.rows - 1));
  place.column = 1 + static_cast<int>(random.below(size.columns - 1));
  for (int step = 0; step < steps; ++step) {
    if (random.random() < 0.35) direction = directions[random.below(4)];
    place.row = std::clamp(place.row + direction.row, 1, size.rows - 2);
    place.column = std::clamp(place.column + direction.column, 1, size.columns - 2);
    const auto& mask = kMasks[random.below(5)];
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column)
        if (mask[row][column])
          room.fixed[(place.row + row - 1) * size.columns + place.column + column - 1] = SokobanCell::floor;
  }
  for (int row = 0; row < size.rows; ++row)
    for (int column = 0; column < size.columns; ++column)
      if (row == 0 || column == 0 || row == size.rows - 1 || column == size.columns - 1)
        room.fixed[row * size.columns + column] = SokobanCell::wall;
  return room;
}

// Places the player, then the targets, on free floor cells. Returns false if there are too few.
bool place_player_and_targets(SokobanLevel& room, int boxes, NumpyLegacyRandom& random) {
  std::vector<int> free;
  for (std::size_t cell = 0; cell < room.fixed.size(); ++cell)
    if (room.fixed[cell] == SokobanCell::floor) free.push_back(static_cast<int>(cell));
  if (static_cast<int>(free.size()) <= boxes + 1) return false;
  const auto take = [&] {
    const auto chosen = free.begin() + random.integers(static_cast<std::uint32_t>(free.size()));
    const int cell = *chosen;
    free.erase(chosen);
    return cell;
  };
  room.player = take();
  for (int box = 0; box < boxes; ++box) room.fixed[take()] = SokobanCell::target;
  return true;
}

// Result of pulling the boxes of a solved room.
struct ReversePlay {
  int player = 0;
  std::vector<int> targets;  // in cell order
  std::vector<int> boxes;    // the box of each target
  int displacement = 0;      // sum of Manhattan distances between the two; 0: no result
};

constexpr std::size_t kMaxSearchStates = 300000;

// Depth-first search for a state whose boxes were pulled far and in alternation, from a room with every box on its
// target. `room` provides the targets (in `fixed`) and the player; `cells` is unused. States are at most `depth` - 2
// moves away.
class ReverseSearch {
 public:
  ReverseSearch(const SokobanLevel& room, SokobanGenerator generator) : room_(room), generator_(generator) {
    for (std::size_t cell = 0; cell < room.fixed.size(); ++cell)
      if (room.fixed[cell] == SokobanCell::target) targets_.push_back(static_cast<int>(cell));
  }

  ReversePlay run(int depth) {
    State first{.player = room_.player, .boxes = {}};
    for (std::size_t i = 0; i < targets_.size(); ++i) first.boxes[i] = {.cell = targets_[i], .pulled = false};
    best_ = first;
    visit(first, 0, kNone, depth);
    ReversePlay result{.player = best_.player, .targets = targets_, .boxes = {}, .displacement = displacement(best_)};
    for (std::size_t i = 0; i < targets_.size(); ++i) result.boxes.push_back(best_.boxes[i].cell);
    return result;
  }

 private:
  static constexpr int kNone = -1;

  struct Box {
    int cell;
    bool pulled;
  };
  struct State {
    int player;
    std::array<Box, kMaxSokobanBoxes> boxes;  // per target
  };

  // gym-sokoban compares rendered rooms: they show which boxes were pulled, but do not identify boxes.
  std::u16string key(const State& state) const {
    std::u16string key;
    for (std::size_t i = 0; i < targets_.size(); ++i)
      key += static_cast<char16_t>(2 * state.boxes[i].cell + state.boxes[i].pulled);
    std::ranges::sort(key);
    key += static_cast<char16_t>(state.player);
    return key;
  }

  int box_at(const State& state, int cell) const {
    for (std::size_t i = 0; i < targets_.size(); ++i)
      if (state.boxes[i].cell == cell) return static_cast<int>(i);
    return kNone;
  }

  int displacement(const State& state) const {
    int sum = 0;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const int from = targets_[i], to = state.boxes[i].cell;
      sum += std::abs(from / room_.columns - to / room_.columns) + std::abs(from % room_.columns - to % room_.columns);
    }
    return sum;
  }

  // As in gym-sokoban, a room scores 0 if the player or a box hides a target in its picture.
  int score(const State& state, int swaps) const {
    for (const int target : targets_)
      if (target == state.player || box_at(state, target) != kNone) return 0;
    return swaps * displacement(state);
  }

  // last: the last pulled box.
  void visit(const State& state, int swaps, int last, int ttl) {
    if (--ttl <= 0 || explored_.size() >= kMaxSearchStates) return;
    if (!explored_.insert(key(state)).second) return;
    if (const int found = score(state, swaps); found > best_score_) {
      best_ = state;
      best_score_ = found;
    }
    // gym-sokoban also tries each move without pulling.
    const int actions = generator_ == SokobanGenerator::gym ? 2 * kSokobanDirections : kSokobanDirections;
    for (int action = 0; action < actions; ++action) {
      const int next = room_.neighbor(state.player, static_cast<SokobanDirection>(action % kSokobanDirections));
      if (room_.fixed[next] == SokobanCell::wall || box_at(state, next) != kNone) continue;
      State after = state;
      after.player = next;
      const int pulled = action < kSokobanDirections ? box_at(state, 2 * state.player - next) : kNone;
      if (pulled != kNone) after.boxes[pulled] = {.cell = state.player, .pulled = true};
      const bool swapped = pulled != kNone && pulled != last;
      // gym-sokoban does not remember the last pulled box, so each pull counts as a swap.
      const bool remembers = generator_ == SokobanGenerator::ragen && pulled != kNone;
      visit(after, swaps + swapped, remembers ? pulled : last, ttl);
    }
  }

  const SokobanLevel& room_;
  SokobanGenerator generator_;
  std::vector<int> targets_;
  std::unordered_set<std::u16string> explored_;
  State best_{};
  int best_score_ = 0;
};

// RAGEN's last step: moves the player up to three steps without revisiting cells.
void wander(SokobanLevel& level, double probability, PythonRandom& random) {
  if (random.random() > probability) return;
  std::vector<int> visited{level.player};
  for (int step = 1; step <= 3; ++step) {
    std::vector<SokobanDirection> options;
    for (int i = 0; i < kSokobanDirections; ++i) {
      const auto direction = static_cast<SokobanDirection>(i);
      const int next = level.neighbor(level.player, direction);
      if (level.is_free(next) && std::ranges::find(visited, next) == visited.end()) options.push_back(direction);
    }
    if (options.empty()) return;
    move_player(level, options[random.below(static_cast<std::uint32_t>(options.size()))]);
    visited.push_back(level.player);
    if (random.random() > 0.5) return;
  }
}

}  // namespace

std::optional<SokobanRoom> try_sokoban_room(const SokobanSize& size, SokobanGenerator generator,
                                            SokobanRandom& random) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    SokobanLevel level = draw_topology(size, random.topology);
    if (!place_player_and_targets(level, size.boxes, random.placement)) return std::nullopt;
    const auto play = ReverseSearch(level, generator).run(size.search_depth);
    if (play.displacement == 0) continue;
    level.cells = level.fixed;
    for (const int box : play.boxes) level.cells[box] = SokobanCell::box;
    level.player = play.player;
    level.cells[level.player] = SokobanCell::player;
    if (generator == SokobanGenerator::ragen) wander(level, play.displacement == 1 ? 0.8 : 0.5, random.topology);
    return SokobanRoom{std::move(level), play.targets, play.boxes};
  }
  return std::nullopt;
}

std::uint64_t next_sokoban_seed(std::uint64_t seed) {
  const std::int64_t hash = python_text_hash(std::to_string(seed));
  const auto magnitude = hash < 0 ? 0 - static_cast<std::uint64_t>(hash) : static_cast<std::uint64_t>(hash);
  return magnitude & 0xffffffffu;
}

SokobanRoom generate_sokoban(const SokobanSize& size, std::uint64_t seed) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    SokobanRandom random(seed);
    if (auto room = try_sokoban_room(size, SokobanGenerator::ragen, random)) return std::move(*room);
    seed = next_sokoban_seed(seed);
  }
  throw Error("level_not_found",
              "can't generate a Sokoban level of " + std::to_string(size.rows) + " by " + std::to_string(size.columns) +
                  " cells with " + counted(size.boxes, "box", "boxes") + " at search depth " +
                  std::to_string(size.search_depth),
              size.boxes == 1 ? "use a larger room or a larger search_depth"
                              : "use fewer boxes, a larger room or a larger search_depth");
}

}  // namespace starpo
