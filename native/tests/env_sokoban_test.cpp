#include <doctest/doctest.h>

#include "env/sokoban.h"
#include "env/sokoban_generator.h"
#include "env/sokoban_solver.h"
#include "error_code.h"
#include "vectors.h"

using namespace starpo;
using nlohmann::json;

namespace {

const SokobanSymbols plain_symbols{"#", "_", "O", "√", "X", "P", "S"};

SokobanConfig config_of(const json& vector) {
  return {.dim_x = vector.at("dim_x"),
          .dim_y = vector.at("dim_y"),
          .num_boxes = vector.at("num_boxes"),
          .max_steps = vector.at("max_steps"),
          .search_depth = vector.value("search_depth", 300),
          .grid_lookup = plain_symbols};
}

SokobanConfig simple() { return {.dim_x = 6, .dim_y = 6, .num_boxes = 1, .max_steps = 100, .search_depth = 300, .grid_lookup = plain_symbols}; }

// A level from pictures of gym-sokoban's codes.
SokobanLevel level_of(const json& fixed, const json& state) {
  SokobanLevel level{.rows = static_cast<int>(fixed.size()), .columns = static_cast<int>(fixed[0].get<std::string>().size()), .fixed = {}, .cells = {}, .player = 0};
  for (const std::string row : fixed)
    for (const char c : row) level.fixed.push_back(static_cast<SokobanCell>(c - '0'));
  for (const std::string row : state)
    for (const char c : row) {
      if (c == '5') level.player = static_cast<int>(level.cells.size());
      level.cells.push_back(static_cast<SokobanCell>(c - '0'));
    }
  return level;
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

// What is seen on a fixed way of thirty actions.
std::string walk_about(Environment& sokoban) {
  std::string text;
  for (int i = 0; i < 30; ++i) {
    if (sokoban.step(sokoban.actions()[i * i / 7 % 4]).done) break;
    text += sokoban.observation() + '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("RAGEN's Sokoban: levels, texts, rewards and ends") {
  for (const auto& vector : read_vectors("sokoban.json", "ragen")) {
    CAPTURE(vector.at("seed"));
    const auto config = config_of(vector.at("config"));
    const auto seed = vector.at("seed").get<std::uint64_t>();
    const auto room = generate_sokoban({.rows = config.dim_x, .columns = config.dim_y, .boxes = config.num_boxes, .search_depth = config.search_depth}, seed);
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
      CHECK_FALSE(result.slipped);
    }
    check_same_level(sokoban.level(), level_of(vector.at("fixed"), vector.at("final_state")));
    CHECK(sokoban.observation() == vector.at("final_obs").get<std::string>());
  }
}

TEST_CASE("gym-sokoban's own generator and all of its nine actions") {
  for (const auto& vector : read_vectors("sokoban.json", "gym_original")) {
    CAPTURE(vector.at("seed"));
    const SokobanSize size{.rows = vector.at("dim")[0], .columns = vector.at("dim")[1], .boxes = vector.at("num_boxes"), .search_depth = 300};
    SokobanRandom random(vector.at("seed").get<std::uint64_t>());
    auto room = try_sokoban_room(size, SokobanGenerator::gym, random);
    while (!room) room = try_sokoban_room(size, SokobanGenerator::gym, random);
    check_same_level(room->level, level_of(vector.at("fixed"), vector.at("state")));
    check_mapping(*room, vector.at("box_mapping"));

    auto level = room->level;
    for (const auto& step : vector.at("steps_a_r_moved_player_moved_box_done")) {
      const int action = step[0];
      SokobanMove move;
      if (action > 0) move = (action < 5 ? push : walk)(level, static_cast<SokobanDirection>((action - 1) % 4));
      CHECK(move.player == step[2].get<bool>());
      CHECK(move.box == step[3].get<bool>());
    }
    check_same_level(level, level_of(vector.at("fixed"), vector.at("final_state")));
  }
}

TEST_CASE("a seed without a level goes on with its hash, the same one everywhere") {
  for (const auto& vector : read_vectors("sokoban.json", "reseed_hash_PYTHONHASHSEED0")) {
    if (vector.at("siphash") != "1-3") continue;
    for (std::size_t i = 0; i < vector.at("seeds").size(); ++i)
      CHECK(next_sokoban_seed(vector.at("seeds")[i].get<std::uint64_t>()) == vector.at("next_seed")[i].get<std::uint64_t>());
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

TEST_CASE("a room that can't hold a level is refused after some seeds") {
  SokobanConfig config = simple();
  config.num_boxes = 16;
  config.search_depth = 3;
  Sokoban sokoban(config);
  CHECK(error_code_of([&] { sokoban.reset(0, 0); }) == "level_not_found");
}

TEST_CASE("Sokoban's observation has grid_lookup's symbols and its board always the same") {
  SokobanConfig config = simple();
  config.grid_lookup = {"W", ".", "G", "C", "B", "A", "@"};
  Sokoban sokoban(config);
  CHECK(sokoban.observation().empty());
  sokoban.reset(3, 0);
  CHECK(sokoban.observation() == "WWWWWW\nWWWWWW\nWGWWWW\nWBWWWW\nW.AWWW\nWWWWWW");
  CHECK(sokoban.board() == "######\n######\n#O####\n#X####\n#_P###\n######");
  sokoban.step("Left");
  CHECK(sokoban.step("Up").success);
  CHECK(sokoban.observation() == "WWWWWW\nWWWWWW\nWCWWWW\nWAWWWW\nW..WWW\nWWWWWW");
}

TEST_CASE("a player on a target, and a box that is pushed over one") {
  const json fixed{"00000000", "01112110", "00000000"};
  auto level = level_of(fixed, {"00000000", "05412110", "00000000"});
  CHECK(sokoban_text(level, plain_symbols) == "########\n#PX_O__#\n########");
  CHECK(push(level, SokobanDirection::right).box);
  CHECK(targets_without_box(level) == 1);
  CHECK(push(level, SokobanDirection::right).box);
  CHECK(targets_without_box(level) == 0);
  CHECK(sokoban_text(level, plain_symbols) == "########\n#__P√__#\n########");
  CHECK_FALSE(walk(level, SokobanDirection::right).player);
  CHECK(push(level, SokobanDirection::right).box);
  CHECK(targets_without_box(level) == 1);
  CHECK(sokoban_text(level, plain_symbols) == "########\n#___SX_#\n########");
  CHECK(push(level, SokobanDirection::right).box);
  CHECK_FALSE(push(level, SokobanDirection::right).player);
  CHECK(walk(level, SokobanDirection::left).player);
  CHECK(sokoban_text(level, plain_symbols) == "########\n#___S_X#\n########");
}

TEST_CASE("a box off its target costs what it brought") {
  // Of many episodes some push a box over a target; the sum of +1 and -1 must follow the boxes on targets.
  SokobanConfig config = simple();
  config.dim_x = config.dim_y = 8;
  config.num_boxes = 2;
  config.search_depth = 10;
  int fell = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Sokoban sokoban(config);
    sokoban.reset(seed, 0);
    const auto names = sokoban.actions();
    for (std::uint64_t i = 0; i < 90; ++i) {
      const int before = 2 - targets_without_box(sokoban.level());
      const auto result = sokoban.step(names[(seed * 31 + i * i * 7 + i / 3) % 4]);
      const int after = 2 - targets_without_box(sokoban.level());
      CHECK(result.reward == doctest::Approx(-0.1 + (after - before) + (after == 2 ? 10 : 0)));
      fell += after < before;
      if (result.done) break;
    }
  }
  CHECK(fell > 0);
}

TEST_CASE("Sokoban ends after max_steps, and unknown actions take none") {
  SokobanConfig config = simple();
  config.max_steps = 3;
  Sokoban sokoban(config);
  CHECK(error_code_of([&] { sokoban.step("Up"); }) == "no_episode");
  sokoban.reset(7, 0);
  for (const char* unknown : {"", "Push", "Up ", "noop"}) {
    const auto before = sokoban.observation();
    const auto result = sokoban.step(unknown);
    CHECK_FALSE(result.valid);
    CHECK_FALSE(result.done);
    CHECK_FALSE(result.effective);
    CHECK(result.reward == 0);
    CHECK(result.reward_is_integer);
    CHECK(sokoban.observation() == before);
  }
  CHECK_FALSE(sokoban.step("lEFT").done);
  CHECK_FALSE(sokoban.step("Left").done);
  const auto last = sokoban.step("Left");
  CHECK(last.done);
  CHECK_FALSE(last.success);
  CHECK(error_code_of([&] { sokoban.step("Up"); }) == "no_episode");
  sokoban.reset(7, 0);
  CHECK_FALSE(sokoban.step("Left").done);
}

TEST_CASE("noise changes nothing in Sokoban, and a clone goes its own way") {
  Sokoban sokoban(simple()), noisy(simple());
  sokoban.reset(11, 0);
  noisy.reset(11, 99);
  CHECK(noisy.observation() == sokoban.observation());
  sokoban.step("Up");
  noisy.step("Up");
  const auto clone = sokoban.clone();
  const auto before = clone->observation();
  const auto followed = walk_about(sokoban);
  CHECK(followed == walk_about(noisy));
  CHECK(clone->observation() == before);
  CHECK(walk_about(*clone) == followed);
}

TEST_CASE("the solver wins every level of RAGEN's presets") {
  SokobanConfig larger = simple();
  larger.dim_x = larger.dim_y = 8;
  larger.num_boxes = 2;
  larger.search_depth = 10;
  for (const auto& config : {simple(), larger})
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

TEST_CASE("a box in a corner is a dead end unless the corner is a target") {
  const json fixed{"000000", "021110", "011110", "000000"};
  CHECK(is_dead_end(level_of(fixed, {"000000", "021140", "015110", "000000"})));
  CHECK_FALSE(is_dead_end(level_of(fixed, {"000000", "031110", "015110", "000000"})));
  CHECK_FALSE(is_dead_end(level_of(fixed, {"000000", "021410", "015110", "000000"})));

  int dead_ends = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Sokoban sokoban(simple());
    sokoban.reset(seed, 0);
    for (int i = 0; i < 40 && !is_dead_end(sokoban.level()); ++i)
      if (sokoban.step(sokoban.actions()[(seed + i * i / 5) % 4]).done) break;
    if (!is_dead_end(sokoban.level())) continue;
    ++dead_ends;
    CHECK(shortest_solution(sokoban).empty());
  }
  CHECK(dead_ends > 0);

  Sokoban sokoban(simple());
  sokoban.reset(1, 0);  // its box is pushed up to the target, past which there is a wall
  sokoban.step("Up");
  CHECK_FALSE(is_dead_end(sokoban.level()));
  sokoban.step("Up");
  CHECK(sokoban.success());
  CHECK(shortest_solution(sokoban).empty());
}

TEST_CASE("Sokoban's configuration") {
  const auto code_of = [](const char* change) {
    json config{{"dim_x", 6}, {"dim_y", 6}, {"num_boxes", 1}, {"max_steps", 100}, {"search_depth", 300}, {"grid_lookup", {{"0", "#"}, {"1", "_"}, {"2", "O"}, {"3", "√"}, {"4", "X"}, {"5", "P"}, {"6", "S"}}}};
    config.merge_patch(json::parse(change));
    return error_code_of([&] { make_environment("sokoban", config.dump()); });
  };
  CHECK(code_of("{}") == "none");
  CHECK(code_of(R"({"num_boxes": 14})") == "none");
  for (const char* wrong : {R"({"dim_x": 4})", R"({"dim_y": null})", R"({"num_boxes": 15})", R"({"num_boxes": 0})", R"({"grid_lookup": {"6": null}})", R"({"grid_lookup": {"7": "Z"}})",
                            R"({"grid_lookup": {"6": "P"}})", R"({"grid_lookup": {"1": " "}})", R"({"grid_lookup": {"1": ""}})", R"({"grid_lookup": "RAGEN"})"}) {
    CAPTURE(wrong);
    CHECK(code_of(wrong) == "config_invalid");
  }
}
