#include "env/claims/grid_claims.h"

#include <algorithm>
#include <set>

#include "env/claims/grid_plan.h"
#include "env/claims/grid_sides.h"
#include "env/claims/grid_words.h"

namespace starpo {
namespace {

// How numbers of cells are read: row and column from 0, as in observations with coordinates, or another convention.
struct CellConvention {
  int origin = 0;
  bool column_first = false;

  int cell(const GridWorld& world, int first, int second) const {
    const int row = (column_first ? second : first) - origin, column = (column_first ? first : second) - origin;
    const bool inside = row >= 0 && row < world.rows && column >= 0 && column < world.columns;
    return inside ? row * world.columns + column : -1;
  }
};

constexpr std::array<CellConvention, 4> kConventions{{{0, false}, {1, false}, {0, true}, {1, true}}};

struct PositionClaim {
  std::size_t thing;
  int first, second;
  bool is_negated;
  std::size_t start, end;

  bool holds(const GridWorld& world, const CellConvention& convention) const {
    const int cell = convention.cell(world, first, second);
    return (std::ranges::find(world.things[thing].cells, cell) != world.things[thing].cells.end()) != is_negated;
  }
};

// A path written as moves with their destinations: "Down 1,3 Left 1,2".
struct PathClaim {
  std::vector<GridDirection> moves;
  std::vector<PositionClaim> cells;  // thing: unused
};

class GridReader {
 public:
  GridReader(std::string_view reasoning, const GridWorld& world)
      : reasoning_(reasoning), world_(world), sentences_(sentences_of(reasoning)) {}

  std::vector<Claim> check(std::span<const std::string> actions) {
    for (Sentence& sentence : sentences_) {
      if (!sentence.is_claim) continue;
      const Tokens tokens = sentence.tokens;
      read_pushes(tokens);
      read_paths(tokens);
      read_positions(tokens);
    }
    add_cells();
    for (Sentence& sentence : sentences_)
      if (sentence.is_claim) check_sides(sentence.tokens, world_, [&](Claim claim) { add(std::move(claim)); });
    if (auto plan = check_plan(sentences_, actions)) add(std::move(*plan));
    std::ranges::sort(claims_, {}, [](const Claim& claim) { return std::pair(claim.start, claim.end); });
    return std::move(claims_);
  }

 private:
  // "push Up at 3,2": a box above 3,2 can be pushed up.
  void read_pushes(Tokens tokens) {
    if (!world_.can_push) return;
    for (std::size_t at = 0; at + 3 < tokens.size(); ++at) {
      const auto direction = direction_at(tokens, at + 1);
      if (!tokens[at].is_any({"push", "pushing"}) || !direction) continue;
      const std::size_t place = skip_words(tokens, at + 2, {"at", "from"}, 1);
      const auto cell = cell_at(tokens, place);
      if (place == at + 2 || !cell) continue;
      use(tokens, at, cell->end);
      const CellConvention standard;
      const int from = standard.cell(world_, cell->first, cell->second);
      const bool holds = from >= 0 && world_.can_push(from, *direction);
      add({tokens[at].start, tokens[cell->end - 1].end, ClaimKind::grounding, holds,
           holds ? "" : "No box can be pushed in that direction from there."});
    }
  }

  void read_paths(Tokens tokens) {
    for (std::size_t at = 0; at < tokens.size();) {
      PathClaim path;
      const std::size_t begin = at;
      for (auto direction = direction_at(tokens, at); direction; direction = direction_at(tokens, at)) {
        const std::size_t place = skip_words(tokens, at + 1, {"to", "-", ">", "\u2192", "="}, 2);
        const auto cell = cell_at(tokens, place);
        if (tokens[at].is_used || !cell) break;
        path.moves.push_back(*direction);
        path.cells.push_back({0, cell->first, cell->second, false, tokens[at].start, tokens[cell->end - 1].end});
        // The direction itself stays available as a planned move.
        use(tokens, at + 1, cell->end);
        at = skip_words(tokens, cell->end, {",", "then", "and"});
      }
      if (path.moves.empty()) {
        ++at;
        continue;
      }
      read_safety(tokens, begin, path);
      paths_.push_back(std::move(path));
    }
  }

  // "safe path Down 1,3 ...": the path avoids holes.
  void read_safety(Tokens tokens, std::size_t begin, const PathClaim& path) {
    if (!world_.is_deadly) return;
    for (std::size_t at = begin; at-- > 0 && begin - at < 4;) {
      if (!tokens[at].is("safe")) continue;
      const auto walked = world_.walk(path.moves);
      const auto hole = std::ranges::find_if(walked, world_.is_deadly);
      const bool holds = hole == walked.end();
      const std::size_t end = word_at(tokens, at + 1, {"path", "way", "route"}) ? at + 1 : at;
      add({tokens[at].start, tokens[end].end, ClaimKind::grounding, holds,
           holds ? "" : "The path enters a hole at " + world_.place_text(*hole) + "."});
      return;
    }
  }

  void read_positions(Tokens tokens) {
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      if (const auto cell = cell_at(tokens, at); cell && !tokens[at].is_used) read_occupant(tokens, at, *cell);
      const auto thing = thing_at(tokens, at);
      if (!thing || world_.things[*thing].is_beside) continue;
      const std::size_t place =
          skip_words(tokens, at + 1,
                     {"is",        "are",       "am",       "at",   "in",          "on",         "the",    "position",
                      "positions", "located",   "location", "cell", "cells",       "tile",       "square", ":",
                      "=",         "currently", "now",      "not",  "coordinates", "coordinate", "here"});
      bool is_negated = at > 0 && word_at(tokens, at - 1, {"no"});
      for (std::size_t i = at; i < place; ++i) is_negated ^= tokens[i].is("not");
      std::size_t next = place;
      for (auto cell = cell_at(tokens, next); cell && !tokens[next].is_used;) {
        const std::size_t first = next == place ? at : next;
        add_position(tokens, *thing, *cell, is_negated, first);
        use(tokens, first, cell->end);
        if (!world_.things[*thing].is_many) break;
        next = skip_words(tokens, cell->end, {",", "and"}, 2);
        if (next == cell->end) break;
        cell = cell_at(tokens, next);
      }
    }
  }

  // "(1, 2) is a hole"
  void read_occupant(Tokens tokens, std::size_t at, const WrittenCell& cell) {
    const std::size_t verb = skip_words(tokens, cell.end, {"is", "has", "contains"}, 1);
    if (verb == cell.end) return;
    const std::size_t subject = skip_words(tokens, verb, {"a", "an", "the", "not", "no"}, 3);
    const auto thing = thing_at(tokens, subject);
    if (!thing || world_.things[*thing].is_beside || cell_at(tokens, subject + 1)) return;
    bool is_negated = false;
    for (std::size_t i = verb; i < subject; ++i) is_negated ^= tokens[i].is_any({"not", "no"});
    positions_.push_back({*thing, cell.first, cell.second, is_negated, tokens[at].start, tokens[subject].end});
    use(tokens, at, subject + 1);
  }

  void add_position(Tokens tokens, std::size_t thing, const WrittenCell& cell, bool is_negated, std::size_t first) {
    positions_.push_back({thing, cell.first, cell.second, is_negated, tokens[first].start, tokens[cell.end - 1].end});
  }

  // Adds the claims that name cells, under the convention that the reasoning uses: rows and columns from 0, unless two
  // or more positions all hold under another convention only.
  void add_cells() {
    CellConvention convention;
    const auto all_hold = [&](const CellConvention& each) {
      return std::ranges::all_of(positions_, [&](const PositionClaim& claim) { return claim.holds(world_, each); });
    };
    std::set<std::pair<int, int>> different;
    for (const PositionClaim& claim : positions_) different.emplace(claim.first, claim.second);
    if (!world_.gives_coordinates && different.size() >= 2)
      if (const auto found = std::ranges::find_if(kConventions, all_hold); found != kConventions.end())
        convention = *found;
    for (const PositionClaim& claim : positions_) {
      const bool holds = claim.holds(world_, convention);
      add({claim.start, claim.end, ClaimKind::grounding, holds, holds ? "" : fact_of(claim)});
    }
    for (const PathClaim& path : paths_) {
      const auto walked = world_.walk(path.moves);
      for (std::size_t i = 0; i < path.cells.size(); ++i) {
        const PositionClaim& claim = path.cells[i];
        const bool holds = i < walked.size() && convention.cell(world_, claim.first, claim.second) == walked[i];
        add({claim.start, claim.end, ClaimKind::grounding, holds,
             holds               ? ""
             : i < walked.size() ? "This move leads to " + world_.place_text(walked[i]) + "."
                                 : "The path ends before this move."});
      }
    }
  }

  std::string fact_of(const PositionClaim& claim) const {
    const GridThing& thing = world_.things[claim.thing];
    if (!claim.is_negated && !thing.is_many && thing.cells.size() == 1)
      return "The " + thing.noun + " is at " + world_.place_text(thing.cells.front()) + ".";
    return std::string("This cell has ") + (claim.is_negated ? "a " : "no ") + thing.noun + ".";
  }

  std::optional<std::size_t> thing_at(Tokens tokens, std::size_t at) const {
    return at < tokens.size() ? world_.thing_named(tokens[at].text) : std::nullopt;
  }

  static void use(Tokens tokens, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) tokens[i].is_used = true;
  }

  void add(Claim claim) {
    // Repetition earns nothing: the same words count once.
    const std::string key =
        std::string(reasoning_.substr(claim.start, claim.end - claim.start)) + (claim.holds ? " +" : " -");
    if (seen_.insert(key).second) claims_.push_back(std::move(claim));
  }

  std::string_view reasoning_;
  const GridWorld& world_;
  std::vector<Sentence> sentences_;
  std::vector<PositionClaim> positions_;
  std::vector<PathClaim> paths_;
  std::vector<Claim> claims_;
  std::set<std::string> seen_;
};

}  // namespace

std::string GridWorld::place_text(int cell) const {
  return std::to_string(cell / columns) + "," + std::to_string(cell % columns);
}

std::optional<std::size_t> GridWorld::thing_named(std::string_view word) const {
  for (std::size_t i = 0; i < things.size(); ++i)
    if (std::ranges::find(things[i].words, word) != things[i].words.end()) return i;
  return std::nullopt;
}

std::vector<Claim> check_grid_claims(std::string_view reasoning, std::span<const std::string> actions,
                                     const GridWorld& world) {
  return GridReader(reasoning, world).check(actions);
}

}  // namespace starpo
