#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "env/environment.h"
#include "repository.h"
#include "temporary_folder.h"

using namespace starpo;
using nlohmann::json;

namespace {

// Returns each claim as "kind true|false: text".
std::vector<std::string> claims_in(const Environment& environment, const std::string& reasoning,
                                   const std::vector<std::string>& actions) {
  std::vector<std::string> lines;
  const auto claims = environment.check_claims(reasoning, actions);
  REQUIRE(claims);
  for (const Claim& claim : *claims) {
    CHECK(claim.holds == claim.fact.empty());
    lines.push_back(std::string(claim.kind == ClaimKind::grounding ? "state" : "plan") +
                    (claim.holds ? " true: " : " false: ") + reasoning.substr(claim.start, claim.end - claim.start));
  }
  return lines;
}

std::unique_ptr<Environment> started(const std::string& type, const std::string& config, std::uint64_t seed) {
  auto environment = make_environment(type, config);
  environment->reset(seed, nullptr);
  return environment;
}

std::unique_ptr<Environment> lake(std::uint64_t seed) {
  return started("frozen-lake",
                 R"({"size":4,"p":0.8,"is_slippery":false,"success_rate":0.8,"observation_format":"grid"})", seed);
}

struct ClaimCase {
  std::string reasoning;
  std::vector<std::string> actions;
  std::vector<std::string> claims;
};

void check_all(const Environment& environment, const std::vector<ClaimCase>& cases) {
  for (const auto& [reasoning, actions, claims] : cases) {
    CAPTURE(reasoning);
    CHECK(json(claims_in(environment, reasoning, actions)) == json(claims));
  }
}

}  // namespace

// ____ / __G_ / O___ / __OP
TEST_CASE("FrozenLake checks positions, paths, neighbors, directions and plans, in the starter's words and in prose") {
  const auto environment = lake(10006);
  REQUIRE(environment->board() == "____\n__G_\nO___\n__OP");
  const std::vector<std::string> way{"Up", "Up", "Left"};
  check_all(*environment,
            {
                // The starter's habits.
                {"I go to the goal.", way, {}},
                {"try the way to the goal.", way, {}},
                {"player 3,3 goal 1,2. go Up 2 Left 1",
                 way,
                 {"state true: player 3,3", "state true: goal 1,2", "plan true: Up 2 Left"}},
                {"player 3,3 goal 1,2. go Up 2 Left 1",
                 {"Left"},
                 {"state true: player 3,3", "state true: goal 1,2", "plan false: Up 2 Left"}},
                {"player 3,3 goal 1,2 hole 2,0 hole 3,3. safe path Left 3,2 Up 2,2 Up 1,2",
                 {"Left", "Up", "Up", "Right"},
                 {"state true: player 3,3", "state true: goal 1,2", "state true: hole 2,0", "state false: hole 3,3",
                  "state false: safe path", "state true: Left 3,2", "plan true: Left 3,2 Up 2,2 Up",
                  "state true: Up 2,2", "state true: Up 1,2"}},
                {"safe path Up 2,3 Up 1,2",
                 {"Up", "Up"},
                 {"state true: safe path", "state true: Up 2,3", "plan true: Up 2,3 Up", "state false: Up 1,2"}},
                // Prose.
                {"I am at (3, 3) and the goal is at row 1, column 2.",
                 way,
                 {"state true: I am at (3, 3)", "state true: goal is at row 1, column 2"}},
                {"There are holes at (2,0) and (0,0).", way, {"state true: holes at (2,0)", "state false: (0,0)"}},
                {"(0,0) is not a hole.", way, {"state true: (0,0) is not a hole"}},
                {"The goal is above me and to the left.", way, {"state true: goal is above me and to the left"}},
                {"The goal is two rows up and one column to the left.",
                 way,
                 {"state true: goal is two rows up and one column to the left"}},
                {"The goal is to the right of the player.", way, {"state false: goal is to the right of the player"}},
                {"There is a hole directly to the left.", way, {"state true: hole directly to the left"}},
                {"Right is blocked, and I can't go down.",
                 way,
                 {"state true: Right is blocked", "state true: can't go down"}},
                {"Moving left would fall into a hole, up is safe.",
                 way,
                 {"state true: left would fall into a hole", "state true: up is safe"}},
                {"Left is free.", way, {"state false: Left is free"}},
                {"So I move up twice and then left.", way, {"plan true: up twice and then left"}},
                {"First I go up. Then I move left to the goal.", way, {"plan true: up. Then I move left"}},
                {"First go left. No, so I go up, then left.", way, {"plan true: up, then left"}},
                {"Plan: Up || Up || Left", way, {"plan true: Up || Up || Left"}},
                // Positions counted from 1, which a grid without coordinates leaves open; all must agree.
                {"The player is at (4,4), the goal at (2,3).",
                 way,
                 {"state true: player is at (4,4)", "state true: goal at (2,3)"}},
                {"The player is at (4,4), the goal at (1,2).",
                 way,
                 {"state false: player is at (4,4)", "state true: goal at (1,2)"}},
                // Guesses, conditions, questions, and words that only look like directions.
                {"If I go left I may fall.", way, {}},
                {"Maybe the goal is at (0,0)?", way, {}},
                {"I have 10 moves left, so right now I think.", way, {}},
                // A claim counts once.
                {"player 3,3 player 3,3 player 3,3", way, {"state true: player 3,3"}},
                {"", way, {}},
            });
}

TEST_CASE("observations with coordinates fix how positions are counted") {
  const auto environment =
      started("frozen-lake",
              R"({"size":4,"p":0.8,"is_slippery":false,"success_rate":0.8,"observation_format":"coord"})", 10006);
  check_all(*environment, {{"The player is at (4,4), the goal at (2,3).",
                            {},
                            {"state false: player is at (4,4)", "state false: goal at (2,3)"}}});
}

// ###### / #O#### / #__### / #X_### / #_P_## / ######
TEST_CASE("Sokoban checks positions, pushes, paths, neighbors and plans") {
  const auto environment = started(
      "sokoban",
      R"({"dim_x":6,"dim_y":6,"num_boxes":1,"max_steps":100,"search_depth":300,"grid_lookup":{"0":"#","1":"_","2":"O","3":"√","4":"X","5":"P","6":"S"}})",
      10000);
  REQUIRE(environment->board() == "######\n#O####\n#__###\n#X_###\n#_P_##\n######");
  const std::vector<std::string> way{"Left", "Up", "Up"};
  check_all(
      *environment,
      {
          {"push the box onto the target.", way, {}},
          {"I push the box.", way, {}},
          {"player 4,2 box 3,1 target 1,1. push Up at 4,1. path Left 4,1 Up 3,1 Up 2,1",
           way,
           {"state true: player 4,2", "state true: box 3,1", "state true: target 1,1", "state true: push Up at 4,1",
            "state true: Left 4,1", "plan true: Left 4,1 Up 3,1 Up", "state true: Up 3,1", "state true: Up 2,1"}},
          {"player 4,2 box 3,2. push Up at 4,2. path Up 3,1",
           {"Up"},
           {"state true: player 4,2", "state false: box 3,2", "state false: push Up at 4,2", "plan true: Up",
            "state false: Up 3,1"}},
          {"The box is directly above the target.", way, {"state false: box is directly above the target"}},
          {"The target is above the box and there is a wall below me.",
           way,
           {"state true: target is above the box", "state true: wall below me"}},
          {"Right is floor. Up is blocked by a wall.",
           way,
           {"state true: Right is floor", "state false: Up is blocked"}},
          {"I go left, then push the box up.", way, {"plan true: left, then push the box up"}},
          {"Then the box is on the right, so I push the box right.", way, {"plan false: right"}},
      });
}

TEST_CASE("Bandit checks the arms' values and the choice") {
  const auto environment = started(
      "bandit",
      R"({"lo_arm_name":"Phoenix","hi_arm_name":"Dragon","lo_arm_score":0.1,"hi_arm_loscore":0,"hi_arm_hiscore":1,"hi_arm_hiscore_prob":0.25})",
      0);
  check_all(
      *environment,
      {
          {"I try Dragon.", {"Dragon"}, {"plan true: Dragon"}},
          {"I try Dragon.", {"Phoenix"}, {"plan false: Dragon"}},
          {"Phoenix pays more.", {"Phoenix"}, {"state false: Phoenix pays more"}},
          {"choose the arm: Dragon pays more.", {"Dragon"}, {"state true: Dragon pays more", "plan true: Dragon"}},
          {"Phoenix is safe, but Dragon has a higher reward on average.",
           {},
           {"state true: Phoenix is safe", "state true: Dragon has a higher"}},
          {"Dragon isn't better than Phoenix.", {}, {"state false: Dragon isn't better"}},
          {"Phoenix always pays 0.1, Dragon pays 0.5.",
           {},
           {"state true: Phoenix always pays 0.1", "state false: Dragon pays 0.5"}},
          {"Maybe Dragon pays more. I pick phoenix.", {"Phoenix"}, {"plan true: phoenix"}},
          {"Dragonfly pays more.", {}, {}},
      });
}

TEST_CASE("the examples of claims in docs/algorithms.md are checked as stated") {
  const std::map<std::string, std::string> configs{
      {"frozen-lake", R"({"size":4,"p":0.8,"is_slippery":false,"success_rate":0.8,"observation_format":"grid"})"},
      {"bandit",
       R"({"lo_arm_name":"Phoenix","hi_arm_name":"Dragon","lo_arm_score":0.1,"hi_arm_loscore":0,"hi_arm_hiscore":1,"hi_arm_hiscore_prob":0.25})"},
      {"webshop",
       R"({"catalogue":"synthetic:1000:1","observation_mode":"text","human_goals":false,"show_attrs":false,"price_seed":0,"wrapper":"compact","split":"auto"})"}};
  const std::string text = read_text(test::repository() / "docs/algorithms.md");
  const std::string fence = "```json claims\n";
  int blocks = 0;
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1), ++blocks) {
    const auto block = json::parse(text.substr(at + fence.size(), text.find("```", at + 3) - at - fence.size()));
    const std::string type = block.at("type");
    const auto environment = started(type, configs.at(type), block.at("seed"));
    for (const json& example : block.at("examples")) {
      const std::string reasoning = example.at("reasoning");
      json found{{"true", json::array()}, {"false", json::array()}};
      const auto claims = environment->check_claims(reasoning, example.at("actions").get<std::vector<std::string>>());
      for (const Claim& claim : claims.value())
        found[claim.holds ? "true" : "false"].push_back(reasoning.substr(claim.start, claim.end - claim.start));
      CHECK(found == json{{"true", example.at("true")}, {"false", example.at("false")}});
    }
  }
  CHECK(blocks == 3);
}
