#include "env/claims/grid_sides.h"

#include <algorithm>

namespace starpo {
namespace {

using enum GridDirection;

std::string side_text(const GridWorld& world, GridDirection direction) {
  constexpr std::array<const char*, 4> places{"above", "below", "on the left", "on the right"};
  const std::string_view content = world.sides[static_cast<std::size_t>(direction)].content;
  const std::string what = content == "edge"                        ? "outside the grid"
                           : content == "ice" || content == "floor" ? std::string(content)
                           : content == "goal"                      ? "the goal"
                                                                    : "a " + std::string(content);
  return std::string("The cell ") + places[static_cast<std::size_t>(direction)] + " is " + what + ".";
}

// Returns whether a word describes a neighboring cell, or nothing if it isn't a description.
std::optional<bool> describes(const ReasoningToken& word, const GridSide& side) {
  if (word.is("blocked")) return side.is_blocked;
  if (word.is_any({"wall", "edge", "border", "boundary"})) return side.content == "wall" || side.content == "edge";
  if (word.is_any({"free", "clear", "open", "empty", "available"}))
    return !side.is_blocked && !side.is_deadly && side.content != "box";
  if (word.is("safe")) return !side.is_deadly;
  if (word.is_any({"unsafe", "dangerous", "deadly"})) return side.is_deadly;
  if (word.is_any({"ice", "frozen", "icy"})) return side.content == "ice";
  if (word.is("floor")) return side.content == "floor";
  if (word.is_any({"hole", "box", "goal", "target"}))
    return side.content == word.text || (word.is("goal") && side.content == "target");
  return std::nullopt;
}

class SideReader {
 public:
  SideReader(Tokens tokens, const GridWorld& world, const std::function<void(Claim)>& add)
      : tokens_(tokens), world_(world), add_(add) {
    const auto later = std::ranges::find_if(
        tokens, [](const ReasoningToken& token) { return token.is_any({"then", "after", "once", "when", "until"}); });
    tokens_ = tokens.first(static_cast<std::size_t>(later - tokens.begin()));
  }

  void read() {
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (tokens_[at].is_used) continue;
      if (tokens_[at].is("can")) read_ability(at);
      if (tokens_[at].is("blocked")) read_blocked(at);
      if (const auto thing = thing_at(at)) read_relation(at, *thing);
      if (const auto direction = direction_at(tokens_, at); direction && !tokens_[at].is_used)
        read_side(at, *direction);
    }
  }

 private:
  // "can't go left", "can push the box up"
  void read_ability(std::size_t at) {
    std::size_t next = skip_words(tokens_, at + 1, {"not", "safely", "only", "also"});
    const bool is_negated = word_at(tokens_, at + 1, {"not"});
    if (!word_at(tokens_, next, {"go", "move", "step", "walk", "push"})) return;
    const bool pushes = tokens_[next].is("push") && world_.can_push;
    next = skip_words(tokens_, next + 1, {"the", "box", "it", "to", "any", "further"});
    const auto direction = direction_at(tokens_, next);
    if (!direction) return;
    const bool can = pushes ? world_.can_push(world_.player(), *direction) : !side(*direction).is_blocked;
    add(at, next + 1, can != is_negated, side_text(world_, *direction));
  }

  // "blocked above", "blocked on the left"
  void read_blocked(std::size_t at) {
    const bool is_negated = at > 0 && word_at(tokens_, at - 1, {"not"});
    const std::size_t next = skip_words(tokens_, at + 1, {"on", "to", "the", "from"});
    if (const auto direction = direction_at(tokens_, next))
      add(at, next + 1, side(*direction).is_blocked != is_negated, side_text(world_, *direction));
  }

  // "right is blocked", "moving down would lead into a hole"
  void read_side(std::size_t at, GridDirection direction) {
    const std::size_t verb = skip_words(tokens_, at + 1, {"side", "cell", "tile", "of", "me", "the", "player", "move"});
    if (!word_at(tokens_, verb, {"is", "leads", "goes", "has", "would", "will", "falls", "hits"})) return;
    bool is_negated = false;
    for (std::size_t i = verb; i < tokens_.size() && i < verb + 8; ++i) {
      if (tokens_[i].is(",") || tokens_[i].is_used || direction_at(tokens_, i)) return;
      is_negated ^= tokens_[i].is_any({"not", "no"});
      const auto described = describes(tokens_[i], side(direction));
      if (!described) continue;
      return add(at, i + 1, *described != is_negated, side_text(world_, direction));
    }
  }

  // "the goal is two rows down and one column to the left", "a hole on the right", "the box is below the target"
  void read_relation(std::size_t at, std::size_t subject) {
    const bool is_moved = at > 0 && (word_at(tokens_, at - 1, {"push", "move"}) ||
                                     (at > 1 && word_at(tokens_, at - 2, {"push", "pushing", "move", "moving"})));
    std::size_t next = at + 1;
    const bool has_verb = word_at(tokens_, next, {"is", "are", "lies", "sits"});
    bool is_negated = at > 0 && word_at(tokens_, at - 1, {"no"}), is_beside = world_.things[subject].is_beside;
    bool has_preposition = false;
    for (std::size_t skipped = 0; skipped < 8 && next < tokens_.size(); ++skipped, ++next) {
      if (direction_at(tokens_, next) || count_at(tokens_, next)) break;
      const ReasoningToken& token = tokens_[next];
      if (token.is_used ||
          !token.is_any({"is",          "are",   "lies",  "sits",     "to",  "the",      "on",      "in",    "my",
                         "located",     "also",  "still", "just",     "far", "straight", "further", "not",   "directly",
                         "immediately", "right", "next",  "adjacent", "me",  "side",     "that",    "player"}))
        return;
      is_negated ^= token.is("not");
      is_beside |= token.is_any({"directly", "immediately", "right", "next", "adjacent"});
      has_preposition |= token.is_any({"to", "on"});
    }
    if (!has_verb && (is_moved || !(has_preposition || word_at(tokens_, next, {"above", "below", "beneath"})))) return;

    struct Offset {
      GridDirection direction;
      std::optional<int> count;
    };
    std::vector<Offset> offsets;
    const GridThing* reference = nullptr;
    std::size_t end = next;
    while (true) {
      const auto count = count_at(tokens_, next);
      const std::size_t word = skip_words(tokens_, count ? count->end : next, {"to", "the", "on", "my"});
      const auto direction = direction_at(tokens_, word);
      if (!direction) break;
      offsets.push_back({*direction, count ? std::optional(count->count) : std::nullopt});
      end = skip_words(tokens_, word + 1, {"side"}, 1);
      const std::size_t other = skip_words(tokens_, end, {"of", "from", "the", "a", "my"}, 3);
      if (const auto thing = thing_at(other)) {
        reference = &world_.things[*thing];
        end = other + 1;
      }
      next = skip_words(tokens_, end, {"and", ","}, 2);
      if (next == end) break;
    }
    if (offsets.empty()) return;
    if (subject == 0 && !reference) return;
    if (!reference) reference = &world_.things.front();

    bool holds = true;
    for (const Offset& offset : offsets)
      holds &= is_toward(world_.things[subject], *reference, offset.direction, offset.count,
                         is_beside && offsets.size() == 1, offsets.size() > 1);
    const GridThing& thing = world_.things[subject];
    const std::string fact = thing.cells.size() == 1
                                 ? "The " + thing.noun + " is at " + world_.place_text(thing.cells.front()) + "."
                                 : side_text(world_, offsets.front().direction);
    add(at, end, holds != is_negated, fact);
  }

  // Without a count, one of many things must be in line, and a single thing on that side.
  bool is_toward(const GridThing& thing, const GridThing& reference, GridDirection direction, std::optional<int> count,
                 bool is_beside, bool is_diagonal) const {
    for (const int from : reference.cells) {
      for (const int cell : thing.cells) {
        const int rows = cell / world_.columns - from / world_.columns,
                  columns = cell % world_.columns - from % world_.columns;
        const bool is_vertical = direction == up || direction == down;
        const int along = is_vertical ? rows : columns, across = is_vertical ? columns : rows;
        const int distance = direction == up || direction == left ? -along : along;
        const bool in_line = across == 0 || is_diagonal || !(thing.is_many || is_beside);
        if (in_line && (is_beside ? distance == 1 : count ? distance == *count : distance > 0)) return true;
      }
    }
    return false;
  }

  std::optional<std::size_t> thing_at(std::size_t at) const {
    if (at >= tokens_.size() || tokens_[at].is_used) return std::nullopt;
    return world_.thing_named(tokens_[at].text);
  }

  const GridSide& side(GridDirection direction) const { return world_.sides[static_cast<std::size_t>(direction)]; }

  void add(std::size_t begin, std::size_t end, bool holds, const std::string& fact) {
    for (std::size_t i = begin; i < end; ++i) tokens_[i].is_used = true;
    add_({tokens_[begin].start, tokens_[end - 1].end, ClaimKind::grounding, holds, holds ? "" : fact});
  }

  Tokens tokens_;
  const GridWorld& world_;
  const std::function<void(Claim)>& add_;
};

}  // namespace

void check_sides(Tokens tokens, const GridWorld& world, const std::function<void(Claim)>& add) {
  SideReader(tokens, world, add).read();
}

}  // namespace starpo
