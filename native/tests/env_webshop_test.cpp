#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "env/protocol.h"
#include "env/registry.h"
#include "env/webshop/unicode_text.h"
#include "error_code.h"
#include "repository.h"
#include "temporary_folder.h"
#include "webshop_fixtures.h"

using namespace starpo;
using nlohmann::json;

namespace {

WebShopConfig webshop_config(WebShopConfig::Wrapper wrapper, WebShopConfig::Split split = {}) {
  static const auto open = Catalogue::open("synthetic:1000:1", false);  // so that it is generated once
  WebShopConfig config;
  config.catalogue = "synthetic:1000:1";
  config.wrapper = wrapper;
  config.split = split;
  return config;
}

constexpr const char* kWebShopJson =
    R"({"catalogue": "synthetic:1000:1", "observation_mode": "text", "human_goals": false, "show_attrs": false,
        "price_seed": 0, "wrapper": "none", "split": "train"})";

json info_of(const WebShop& shop, bool at_start) { return json::parse(shop.info_json(at_start)); }

// Buys the product of the goal with its options. Returns the result of the purchase.
StepResult buy_goal(WebShop& shop) {
  const json goal = info_of(shop, true)["goal"];
  shop.step("search[" + goal["name"].get<std::string>() + "]");
  const std::string asin = goal["asin"];
  std::string lower;
  for (const char c : asin) lower += static_cast<char>(std::tolower(c));
  REQUIRE(shop.step("click[" + lower + "]").effective);
  for (const auto& [name, value] : goal["goal_options"].items()) shop.step("click[" + value.get<std::string>() + "]");
  return shop.step("click[buy now]");
}

}  // namespace

TEST_CASE("without a wrapper, a level is a goal, and actions are WebShop's") {
  WebShop shop(webshop_config(WebShopConfig::Wrapper::none));
  CHECK(shop.observation().empty());
  CHECK(error_code_of([&] { shop.step("search[x]"); }) == "no_episode");
  shop.reset(5, nullptr);
  const json info = info_of(shop, true);
  CHECK(info["available_actions"] == json{{"has_search_bar", true}, {"clickables", {"search"}}});
  CHECK(info["title_nouns"] == "heuristic");
  CHECK(shop.observation() ==
        "WebShop [SEP] Instruction: [SEP] " + info["goal"]["instruction_text"].get<std::string>() + " [SEP] Search");

  const StepResult ignored = shop.step("buy");
  CHECK(ignored.reward_is_integer);
  CHECK_FALSE(ignored.valid);
  CHECK_FALSE(ignored.effective);
  const StepResult searched = shop.step("search[mug]");
  CHECK(searched.reward == 0);
  CHECK_FALSE(searched.reward_is_integer);
  CHECK(searched.valid);
  CHECK(searched.effective);
  CHECK_FALSE(info_of(shop, false).contains("goal"));

  const StepResult bought = buy_goal(shop);
  CHECK(bought.reward == 1);
  CHECK(bought.done);
  CHECK(bought.success);
  CHECK(bought.terms.size() == 1);
  CHECK(shop.success());
  CHECK(info_of(shop, false)["reward_info"]["r_type"] == 1.0);
  CHECK(shop.step("search[mug]").valid);  // WebShop has no end
  CHECK_FALSE(shop.success());
  CHECK_FALSE(info_of(shop, false).contains("reward_info"));
  CHECK(error_code_of([&] { shop.reset(1000000, nullptr); }) == "level_not_found");
}

TEST_CASE("RAGEN's splits select goals by a fixed permutation") {
  // random.Random(42).shuffle of 0 to 2237 with CPython begins with 710; place 500 is 1162 and place 1500 is 945.
  const auto instruction = [](WebShopConfig::Split split, std::uint64_t seed) {
    WebShop shop(webshop_config(WebShopConfig::Wrapper::ragen_v1, split));
    shop.reset(seed, nullptr);
    return info_of(shop, true)["goal"]["instruction_text"].get<std::string>();
  };
  const auto goals = GoalList::open(Catalogue::open("synthetic:1000:1", false), false, 0);
  CHECK(instruction(WebShopConfig::Split::test, 0) == goals->goal(710).instruction);
  CHECK(instruction(WebShopConfig::Split::test, 502) == goals->goal(528).instruction);
  CHECK(instruction(WebShopConfig::Split::val, 0) == goals->goal(1162).instruction);
  CHECK(instruction(WebShopConfig::Split::val, 1001) == goals->goal(1549).instruction);
  CHECK(instruction(WebShopConfig::Split::train, 0) == goals->goal(945).instruction);
  CHECK(instruction(WebShopConfig::Split::train, 738 + 2) == goals->goal(2064).instruction);

  auto small = webshop_config(WebShopConfig::Wrapper::ragen_v1, WebShopConfig::Split::test);
  small.catalogue = "synthetic:60:3";
  CHECK(error_code_of([&] { WebShop shop(small); }) == "config_invalid");
}

TEST_CASE("RAGEN shows the instruction after a reset, then pages, with advice and actions") {
  for (const auto wrapper : {WebShopConfig::Wrapper::ragen_v1, WebShopConfig::Wrapper::ragen_v2}) {
    WebShop shop(webshop_config(wrapper));
    shop.reset(0, nullptr);
    const std::string instruction = info_of(shop, true)["goal"]["instruction_text"];
    CHECK(shop.observation().starts_with("Instruction: " + instruction + ".Buy a product"));
    CHECK(shop.observation().ends_with("\nAvailable actions: search[<content>]."));
    const auto lines = std::ranges::count(shop.observation(), '\n');
    CHECK(lines == (wrapper == WebShopConfig::Wrapper::ragen_v1 ? 8 : 9));
    shop.step("search[zzzz]");
    CHECK(shop.observation().starts_with("Instruction: [SEP] " + instruction +
                                         " [SEP] Back to Search [SEP] Page 1 (Total results: 0) [SEP] Next >.Buy"));
    CHECK(info_of(shop, false)["available_actions"] == json{"click[back to search]", "click[next >]"});
    CHECK_FALSE(info_of(shop, false)["end_of_page"].get<bool>());
    CHECK(shop.step("click[next >]").flag("end_of_page"));
    CHECK(shop.observation().ends_with("\nAvailable actions: click[back to search], click[< prev]."));
    const StepResult hidden = shop.step("click[next >]");  // not listed, but executed
    CHECK(hidden.effective);
    CHECK(hidden.valid == (wrapper == WebShopConfig::Wrapper::ragen_v2));
  }
}

TEST_CASE("RAGEN counts a search without a search bar as invalid, and executes it") {
  for (const auto wrapper : {WebShopConfig::Wrapper::ragen_v1, WebShopConfig::Wrapper::ragen_v2}) {
    const bool first_version = wrapper == WebShopConfig::Wrapper::ragen_v1;
    WebShop shop(webshop_config(wrapper));
    shop.reset(0, nullptr);
    const StepResult empty = shop.step("search[]");
    CHECK(empty.valid == first_version);
    CHECK_FALSE(empty.effective);
    CHECK(empty.reward_is_integer == first_version);
    CHECK(shop.step("search[coffee]").valid);
    const StepResult again = shop.step("search[tea]");
    CHECK_FALSE(again.valid);
    CHECK(again.effective);
    CHECK(shop.step("click[BACK TO SEARCH]").valid == !first_version);
    CHECK_FALSE(shop.step("click[search]").valid);
  }
}

TEST_CASE("version 1 of RAGEN pays the reward of WebShop, version 2 only a perfect purchase") {
  for (const auto wrapper : {WebShopConfig::Wrapper::ragen_v1, WebShopConfig::Wrapper::ragen_v2}) {
    WebShop shop(webshop_config(wrapper));
    shop.reset(0, nullptr);
    const StepResult perfect = buy_goal(shop);
    CHECK(perfect.reward == 1);
    CHECK(perfect.success);
    CHECK(perfect.flag("success_purchase"));
    CHECK(error_code_of([&] { shop.step("search[x]"); }) == "no_episode");

    shop.reset(1, nullptr);
    const json goal = info_of(shop, true)["goal"];
    shop.step("search[" + goal["query"].get<std::string>() + "]");
    const auto actions = info_of(shop, false)["available_actions"];
    shop.step(actions[2].get<std::string>());
    const StepResult partial = shop.step("click[buy now]");
    CHECK_FALSE(partial.success);
    CHECK(partial.done);
    const bool binary = wrapper == WebShopConfig::Wrapper::ragen_v2;
    const json info = info_of(shop, false);
    CHECK(info["success_purchase"] == true);
    CHECK(info.contains("raw_reward") == binary);
    const double raw = binary ? info["raw_reward"].get<double>() : partial.reward;
    CHECK(raw > 0);
    CHECK(raw < 1);
    CHECK(partial.reward == (binary ? 0 : raw));
  }
}

TEST_CASE("a copy of WebShop continues on its own") {
  WebShop shop(webshop_config(WebShopConfig::Wrapper::none));
  shop.reset(3, nullptr);
  const auto copy = shop.clone();
  shop.step("search[tea]");
  CHECK(copy->observation() != shop.observation());
  copy->step("search[tea]");
  CHECK(copy->observation() == shop.observation());
}

TEST_CASE("the protocol serves WebShop, but runs don't offer it") {
  CHECK(find_environment_type("webshop") == nullptr);
  const auto shop = make_environment("webshop", kWebShopJson);
  REQUIRE(shop->idle_keys().size() == 1);
  CHECK(shop->idle_keys()[0].first == "split");
  std::istringstream requests(
      "{\"reset\": 0}\n{\"step\": \"search[tea]\"}\n{\"step\": \"nonsense\"}\n{\"reset\": 99999}\n");
  std::ostringstream answers;
  serve_environment(*shop, std::nullopt, requests, answers);
  std::istringstream lines(answers.str());
  std::vector<json> read;
  for (std::string line; std::getline(lines, line);) read.push_back(json::parse(line));
  REQUIRE(read.size() == 4);
  CHECK(read[0]["actions"].empty());
  CHECK(read[0]["info"]["goal"].contains("goal_options"));
  CHECK(read[1]["reward"].dump() == "0.0");
  CHECK(read[1]["info"]["available_actions"]["clickables"].size() == 12);
  CHECK(read[2]["reward"].dump() == "0");
  CHECK(read[3]["error"]["code"] == "level_not_found");
  CHECK(error_code_of([] { make_environment("webshop", "{}"); }) == "config_invalid");
}

TEST_CASE("every rule of docs/webshop.md names its tests") {
  std::set<std::string> titles;
  for (const auto& entry : std::filesystem::directory_iterator(test::repository() / "native/tests")) {
    if (!entry.path().filename().string().starts_with("env_webshop")) continue;
    std::istringstream lines(read_text(entry.path()));
    const std::string begin = "TEST_CASE(\"", end = "\") {";
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(begin) && line.ends_with(end))
        titles.insert(line.substr(begin.size(), line.size() - begin.size() - end.size()));
  }
  std::istringstream lines(read_text(test::repository() / "docs/webshop.md"));
  int rules = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| " + std::to_string(rules + 1) + " |")) continue;
    ++rules;
    const std::size_t end = line.size() - 2, begin = line.rfind(" | ", end - 1) + 3;
    for (const std::string& title : split(line.substr(begin, end - begin), "<br>"))
      CHECK_MESSAGE(titles.count(title) == 1, rules << ": " << title);
  }
  CHECK(rules == 53);
}
