#include "env/sokoban/reverse_play.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unordered_set>

namespace starpo {
namespace {

constexpr std::size_t most_states = 300000;

class Search {
 public:
  Search(const SokobanLevel& room, SokobanGenerator generator) : room_(room), generator_(generator) {
    for (std::size_t cell = 0; cell < room.fixed.size(); ++cell)
      if (room.fixed[cell] == SokobanCell::target) targets_.push_back(static_cast<int>(cell));
  }

  ReversePlay run(int depth) {
    State first{.player = room_.player, .boxes = {}};
    for (std::size_t i = 0; i < targets_.size(); ++i) first.boxes[i] = {.cell = targets_[i], .pulled = false};
    best_ = first;
    visit(first, 0, none, depth);
    ReversePlay result{.player = best_.player, .targets = targets_, .boxes = {}, .displacement = displacement(best_)};
    for (std::size_t i = 0; i < targets_.size(); ++i) result.boxes.push_back(best_.boxes[i].cell);
    return result;
  }

 private:
  static constexpr int none = -1;

  struct Box {
    int cell;
    bool pulled;
  };
  struct State {
    int player;
    std::array<Box, largest_sokoban_boxes> boxes;  // by target
  };

  // The reference compares room pictures: they show which boxes were pulled, but not which box is which.
  std::u16string key(const State& state) const {
    std::u16string key;
    for (std::size_t i = 0; i < targets_.size(); ++i) key += static_cast<char16_t>(2 * state.boxes[i].cell + state.boxes[i].pulled);
    std::ranges::sort(key);
    key += static_cast<char16_t>(state.player);
    return key;
  }

  int box_at(const State& state, int cell) const {
    for (std::size_t i = 0; i < targets_.size(); ++i)
      if (state.boxes[i].cell == cell) return static_cast<int>(i);
    return none;
  }

  int displacement(const State& state) const {
    int sum = 0;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const int from = targets_[i], to = state.boxes[i].cell;
      sum += std::abs(from / room_.columns - to / room_.columns) + std::abs(from % room_.columns - to % room_.columns);
    }
    return sum;
  }

  // Only a room whose targets are all in sight counts.
  int score(const State& state, int swaps) const {
    for (const int target : targets_)
      if (target == state.player || box_at(state, target) != none) return 0;
    return swaps * displacement(state);
  }

  // last: the box that was pulled last.
  void visit(const State& state, int swaps, int last, int ttl) {
    if (--ttl <= 0 || explored_.size() >= most_states) return;
    if (!explored_.insert(key(state)).second) return;
    if (const int found = score(state, swaps); found > best_score_) {
      best_ = state;
      best_score_ = found;
    }
    // gym-sokoban also tries moves without a pull.
    const int actions = generator_ == SokobanGenerator::gym ? 2 * sokoban_directions : sokoban_directions;
    for (int action = 0; action < actions; ++action) {
      const int next = room_.neighbour(state.player, static_cast<SokobanDirection>(action % sokoban_directions));
      if (room_.fixed[next] == SokobanCell::wall || box_at(state, next) != none) continue;
      State after = state;
      after.player = next;
      const int pulled = action < sokoban_directions ? box_at(state, 2 * state.player - next) : none;
      if (pulled != none) after.boxes[pulled] = {.cell = state.player, .pulled = true};
      const bool swapped = pulled != none && pulled != last;
      // gym-sokoban forgets what it pulled last, so that each pull counts as a swap.
      const bool remembers = generator_ == SokobanGenerator::ragen && pulled != none;
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

}  // namespace

ReversePlay play_in_reverse(const SokobanLevel& room, int search_depth, SokobanGenerator generator) { return Search(room, generator).run(search_depth); }

}  // namespace starpo
