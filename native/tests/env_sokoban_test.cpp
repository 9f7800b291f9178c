#include <doctest/doctest.h>

#include "error_code.h"
#include "sokoban_fixtures.h"

using namespace starpo;
using nlohmann::json;

namespace {

// Returns the observations of a fixed sequence of thirty actions.
std::string play_fixed_actions(Environment& sokoban) {
  std::string text;
  for (int i = 0; i < 30; ++i) {
    if (sokoban.step(sokoban.actions()[i * i / 7 % 4]).done) break;
    text += sokoban.observation() + '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("Sokoban's observation uses grid_lookup's symbols, and its board has fixed symbols") {
  SokobanConfig config = simple_sokoban();
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

TEST_CASE("a player on a target, and a box pushed over a target") {
  const json fixed{"00000000", "01112110", "00000000"};
  auto level = level_of(fixed, {"00000000", "05412110", "00000000"});
  CHECK(sokoban_text(level, plain_symbols) == "########\n#PX_O__#\n########");
  CHECK(push(level, SokobanDirection::right).box);
  CHECK(targets_without_box(level) == 1);
  CHECK(push(level, SokobanDirection::right).box);
  CHECK(targets_without_box(level) == 0);
  CHECK(sokoban_text(level, plain_symbols) == "########\n#__P√__#\n########");
  CHECK_FALSE(move_player(level, SokobanDirection::right).player);
  CHECK(push(level, SokobanDirection::right).box);
  CHECK(targets_without_box(level) == 1);
  CHECK(sokoban_text(level, plain_symbols) == "########\n#___SX_#\n########");
  CHECK(push(level, SokobanDirection::right).box);
  CHECK_FALSE(push(level, SokobanDirection::right).player);
  CHECK(move_player(level, SokobanDirection::left).player);
  CHECK(sokoban_text(level, plain_symbols) == "########\n#___S_X#\n########");
}

TEST_CASE("pushing a box off its target costs the reward it earned") {
  // Some of many episodes push a box over a target. The sum of +1 and -1 must equal the boxes on targets.
  SokobanConfig config = simple_sokoban();
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
      double terms = 0;
      for (const RewardTerm& term : result.terms) terms += term.value;
      CHECK(terms == result.reward);
      CHECK(result.terms.front().name == "step");
      fell += after < before;
      if (result.done) break;
    }
  }
  CHECK(fell > 0);
}

TEST_CASE("Sokoban ends after max_steps, and unknown actions do not count") {
  SokobanConfig config = simple_sokoban();
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

TEST_CASE("noise has no effect on Sokoban, and a clone is independent") {
  Sokoban sokoban(simple_sokoban()), noisy(simple_sokoban());
  sokoban.reset(11, 0);
  const NoiseStream noise = level_noise(99, 11);
  noisy.reset(11, &noise);
  CHECK(noisy.observation() == sokoban.observation());
  sokoban.step("Up");
  noisy.step("Up");
  const auto clone = sokoban.clone();
  const auto before = clone->observation();
  const auto followed = play_fixed_actions(sokoban);
  CHECK(followed == play_fixed_actions(noisy));
  CHECK(clone->observation() == before);
  CHECK(play_fixed_actions(*clone) == followed);
}

TEST_CASE("invalid Sokoban configurations are rejected") {
  const auto code_of = [](const char* change) {
    json config{{"dim_x", 6},
                {"dim_y", 6},
                {"num_boxes", 1},
                {"max_steps", 100},
                {"search_depth", 300},
                {"grid_lookup", {{"0", "#"}, {"1", "_"}, {"2", "O"}, {"3", "√"}, {"4", "X"}, {"5", "P"}, {"6", "S"}}}};
    config.merge_patch(json::parse(change));
    return error_code_of([&] { make_environment("sokoban", config.dump()); });
  };
  CHECK(code_of("{}") == "none");
  CHECK(code_of(R"({"num_boxes": 14})") == "none");
  for (const char* wrong :
       {R"({"dim_x": 4})", R"({"dim_y": null})", R"({"num_boxes": 15})", R"({"num_boxes": 0})",
        R"({"grid_lookup": {"6": null}})", R"({"grid_lookup": {"7": "Z"}})", R"({"grid_lookup": {"6": "P"}})",
        R"({"grid_lookup": {"1": " "}})", R"({"grid_lookup": {"1": ""}})", R"({"grid_lookup": "RAGEN"})"}) {
    CAPTURE(wrong);
    CHECK(code_of(wrong) == "config_invalid");
  }
}
