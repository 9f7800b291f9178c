#include <doctest/doctest.h>

#include "env/sokoban/generator.h"
#include "env/sokoban/level.h"
#include "env/sokoban/sokoban.h"
#include "error_code.h"
#include "sokoban_fixtures.h"
#include "vectors.h"

using namespace starpo;
using nlohmann::json;

namespace {

bool is_dead_end(const SokobanLevel& level) { return has_lost_box(level, live_cells(level)); }

SokobanConfig config_of(const json& vector) {
  return {.dim_x = vector.at("dim_x"),
          .dim_y = vector.at("dim_y"),
          .num_boxes = vector.at("num_boxes"),
          .max_steps = vector.at("max_steps"),
          .search_depth = vector.value("search_depth", 300),
          .grid_lookup = plain_symbols};
}

void check_same_level(const SokobanLevel& found, const SokobanLevel& expected) {
  CHECK(found.rows == expected.rows);
  CHECK(found.columns == expected.columns);
  CHECK(found.fixed == expected.fixed);
  CHECK(found.cells == expected.cells);
  CHECK(found.player == expected.player);
}

void check_mapping(const SokobanRoom& room, const json& mapping) {
  const int columns = room.level.columns;
  json found = json::array();
  for (std::size_t i = 0; i < room.targets.size(); ++i) {
    const int target = room.targets[i], box = room.boxes[i];
    found.push_back({target / columns, target % columns, box / columns, box % columns});
  }
  CHECK(found == mapping);
}

bool wins(const Sokoban& sokoban, const std::vector<std::string>& actions) {
  const auto played = sokoban.clone();
  for (std::size_t i = 0; i < actions.size(); ++i)
    if (played->step(actions[i]).done) return i + 1 == actions.size() && played->success();
  return false;
}

}  // namespace

TEST_CASE("Sokoban matches RAGEN's levels, texts, rewards and episode ends") {
  for (const auto& vector : read_vectors("sokoban.json", "ragen")) {
    CAPTURE(vector.at("seed"));
    const auto config = config_of(vector.at("config"));
    const auto seed = vector.at("seed").get<std::uint64_t>();
    const auto room = generate_sokoban(
        {.rows = config.dim_x, .columns = config.dim_y, .boxes = config.num_boxes, .search_depth = config.search_depth},
        seed);
    check_mapping(room, vector.at("box_mapping"));

    Sokoban sokoban(config);
    sokoban.reset(seed, 0);
    check_same_level(sokoban.level(), level_of(vector.at("fixed"), vector.at("state")));
    CHECK(sokoban.observation() == vector.at("obs").get<std::string>());
    CHECK(sokoban.board() == sokoban.observation());
    const auto solution = shortest_solution(sokoban);
    CHECK(solution.size() == vector.at("shortest_solution").size());
    CHECK(wins(sokoban, solution));

    const auto names = sokoban.actions();
    for (const auto& step : vector.at("steps_a_r_eff_succ_done")) {
      const auto result = sokoban.step(names[step[0].get<int>() - 1]);
      CHECK(result.reward == step[1].get<double>());
      CHECK_FALSE(result.reward_is_integer);
      CHECK(result.effective == step[2].get<bool>());
      CHECK(result.success == step[3].get<bool>());
      CHECK(result.done == step[4].get<bool>());
      CHECK(result.valid);
      CHECK_FALSE(result.flag("slipped"));
    }
    check_same_level(sokoban.level(), level_of(vector.at("fixed"), vector.at("final_state")));
    CHECK(sokoban.observation() == vector.at("final_obs").get<std::string>());
  }
}

TEST_CASE("the gym-sokoban variant matches its generator and all nine actions") {
  for (const auto& vector : read_vectors("sokoban.json", "gym_original")) {
    CAPTURE(vector.at("seed"));
    const SokobanSize size{.rows = vector.at("dim")[0],
                           .columns = vector.at("dim")[1],
                           .boxes = vector.at("num_boxes"),
                           .search_depth = 300};
    SokobanRandom random(vector.at("seed").get<std::uint64_t>());
    auto room = try_sokoban_room(size, SokobanGenerator::gym, random);
    while (!room) room = try_sokoban_room(size, SokobanGenerator::gym, random);
    check_same_level(room->level, level_of(vector.at("fixed"), vector.at("state")));
    check_mapping(*room, vector.at("box_mapping"));

    auto level = room->level;
    for (const auto& step : vector.at("steps_a_r_moved_player_moved_box_done")) {
      const int action = step[0];
      SokobanMove move;
      if (action > 0) move = (action < 5 ? push : move_player)(level, static_cast<SokobanDirection>((action - 1) % 4));
      CHECK(move.player == step[2].get<bool>());
      CHECK(move.box == step[3].get<bool>());
    }
    check_same_level(level, level_of(vector.at("fixed"), vector.at("final_state")));
  }
}

TEST_CASE("a seed without a level continues with its hash, which is the same on every machine") {
  for (const auto& vector : read_vectors("sokoban.json", "reseed_hash_PYTHONHASHSEED0")) {
    if (vector.at("siphash") != "1-3") continue;
    for (std::size_t i = 0; i < vector.at("seeds").size(); ++i)
      CHECK(next_sokoban_seed(vector.at("seeds")[i].get<std::uint64_t>()) ==
            vector.at("next_seed")[i].get<std::uint64_t>());
  }
  for (const auto& vector : read_vectors("sokoban.json", "fallback_chain_py311_hashseed0")) {
    const auto chain = vector.at("seed_chain").get<std::vector<std::uint64_t>>();
    for (std::size_t i = 1; i < chain.size(); ++i) CHECK(next_sokoban_seed(chain[i - 1]) == chain[i]);
    Sokoban first(config_of(vector.at("config"))), last(config_of(vector.at("config")));
    first.reset(chain.front(), 0);
    check_same_level(first.level(), level_of(vector.at("fixed"), vector.at("state")));
    last.reset(chain.back(), 0);
    check_same_level(last.level(), first.level());
  }
}

TEST_CASE("a room too small for a level is rejected after a fixed number of seeds") {
  SokobanConfig config = simple_sokoban();
  config.num_boxes = 16;
  config.search_depth = 3;
  Sokoban sokoban(config);
  CHECK(error_code_of([&] { sokoban.reset(0, 0); }) == "level_not_found");
}

TEST_CASE("the solver solves every level of RAGEN's presets") {
  SokobanConfig larger = simple_sokoban();
  larger.dim_x = larger.dim_y = 8;
  larger.num_boxes = 2;
  larger.search_depth = 10;
  for (const auto& config : {simple_sokoban(), larger})
    for (std::uint64_t seed = 10000; seed < 10060; ++seed) {
      CAPTURE(seed);
      Sokoban sokoban(config);
      sokoban.reset(seed, 0);
      CHECK_FALSE(is_dead_end(sokoban.level()));
      const auto solution = shortest_solution(sokoban);
      CHECK(wins(sokoban, solution));
      CHECK(shortest_solution(sokoban, 1).empty());
    }
}

TEST_CASE("a box in a corner or along a wall without a target is a dead end, unless it is on a target") {
  const json fixed{"000000", "021110", "011110", "011110", "000000"};
  CHECK(is_dead_end(level_of(fixed, {"000000", "021140", "015110", "011110", "000000"})));
  CHECK_FALSE(is_dead_end(level_of(fixed, {"000000", "031110", "015110", "011110", "000000"})));
  CHECK_FALSE(is_dead_end(level_of(fixed, {"000000", "021410", "015110", "011110", "000000"})));
  CHECK_FALSE(is_dead_end(level_of(fixed, {"000000", "021110", "015410", "011110", "000000"})));
  CHECK(is_dead_end(level_of(fixed, {"000000", "021110", "015140", "011110", "000000"})));
  CHECK(is_dead_end(level_of(fixed, {"000000", "021110", "015110", "011410", "000000"})));
}

TEST_CASE("a step flags a dead end, after which no solution exists") {
  int dead_ends = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Sokoban sokoban(simple_sokoban());
    sokoban.reset(seed, 0);
    bool lost = false;
    for (int i = 0; i < 40; ++i) {
      const auto step = sokoban.step(sokoban.actions()[(seed + i * i / 5) % 4]);
      if (step.done) break;
      CHECK(step.flag("dead_end") >= lost);
      if (step.flag("dead_end") && !lost) CHECK(shortest_solution(sokoban).empty());
      lost = step.flag("dead_end");
    }
    dead_ends += lost;
  }
  CHECK(dead_ends > 0);

  Sokoban sokoban(simple_sokoban());
  sokoban.reset(1, 0);  // the box is pushed up onto the target, and a wall is behind it
  CHECK_FALSE(sokoban.step("Up").flag("dead_end"));
  CHECK_FALSE(sokoban.step("Up").flag("dead_end"));
  CHECK(sokoban.success());
  CHECK(shortest_solution(sokoban).empty());
}
