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

TEST_CASE("a copy of WebShop is independent of the original") {
  WebShop shop(webshop_config(WebShopConfig::Wrapper::none));
  shop.reset(3, nullptr);
  const auto copy = shop.clone();
  shop.step("search[tea]");
  CHECK(copy->observation() != shop.observation());
  copy->step("search[tea]");
  CHECK(copy->observation() == shop.observation());
}

TEST_CASE("the split auto trains on training goals and evaluates on validation goals, with every wrapper") {
  for (const auto wrapper :
       {WebShopConfig::Wrapper::none, WebShopConfig::Wrapper::ragen_v1, WebShopConfig::Wrapper::compact}) {
    WebShop shop(webshop_config(wrapper, WebShopConfig::Split::automatic));
    const auto instruction = [&](Split split) {
      shop.set_split(split);
      shop.reset(0, nullptr);
      return info_of(shop, true)["goal"]["instruction_text"].get<std::string>();
    };
    const auto goals = GoalList::open(Catalogue::open("synthetic:1000:1", false), false, 0);
    CHECK(instruction(Split::train) == goals->goal(945).instruction);
    CHECK(instruction(Split::validation) == goals->goal(1162).instruction);
    CHECK(buy_goal(shop).done);
    CHECK(error_code_of([&] { shop.step("search[tea]"); }) == "no_episode");
  }
}

TEST_CASE("the wrapper compact shows the instruction, three products and options, and executes WebShop's actions") {
  WebShop shop(webshop_config(WebShopConfig::Wrapper::compact));
  shop.reset(0, nullptr);
  const json goal = info_of(shop, true)["goal"];
  CHECK(shop.observation() == goal["instruction_text"]);
  CHECK(shop.step("search[" + goal["name"].get<std::string>() + "]").valid);
  const std::string results = shop.observation();
  CHECK(std::ranges::count(results, '\n') == 2);
  const json page = json::parse(*shop.board());
  std::string numbered;
  for (int i = 0; i < 3; ++i)
    numbered += (i > 0 ? "\n" : "") + std::to_string(i + 1) + " " + page["products"][i]["price"].get<std::string>() +
                " " + python_lower(page["products"][i]["title"].get<std::string>());
  CHECK(results == numbered);
  CHECK(shop.step("click[next >]").effective);  // not shown, but executed
  CHECK(shop.observation() != results);
  shop.step("click[< prev]");
  for (const char* other : {"click[b000000000]", "click[0]", "click[4]", "click[01]", "search[", "1"})
    CHECK_FALSE(shop.step(other).valid);
  shop.step("click[2]");
  const json item = json::parse(*shop.board());
  CHECK(item["product"]["asin"] == page["products"][1]["asin"]);
  shop.step("click[< prev]");
  shop.step("click[" + python_lower(page["products"][1]["asin"].get<std::string>()) + "]");
  CHECK(json::parse(*shop.board())["product"] == item["product"]);
  CHECK_FALSE(shop.step("click[1]").valid);  // only results have numbers
  std::string shown;
  for (const json& option : item["product"]["options"]) {
    std::string values;
    for (const std::string value : option["values"]) values += (values.empty() ? "" : " | ") + value;
    shown += option["name"].get<std::string>() + ": " + values + "\n";
  }
  CHECK(shop.observation() == shown + "buy now");
  const std::string value = item.at("/product/options/0/values/0"_json_pointer);
  shop.step("click[" + value + "]");
  CHECK(shop.observation() == "chosen " + value);
  CHECK(shop.step("click[buy now]").done);
  CHECK(shop.observation() == "bought");
  CHECK(shop.idle_keys().at(0).first == "observation_mode");
}

TEST_CASE("the wrapper compact checks claims about the product that a number opens") {
  WebShop shop(webshop_config(WebShopConfig::Wrapper::compact));
  int affordable = 0, expensive = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    shop.reset(seed, nullptr);
    shop.step("search[" + info_of(shop, true)["goal"]["name"].get<std::string>() + "]");
    const json products = json::parse(*shop.board())["products"];
    const auto facts = [&](const std::string& target) {
      json list;
      const auto claims = shop.check_claims("the price is low", std::vector{"click[" + target + "]"});
      for (const Claim& claim : *claims) list.push_back({claim.holds, claim.fact});
      return list;
    };
    for (std::size_t i = 0; i < 3; ++i) {
      const json own = facts(std::to_string(i + 1));
      CHECK(own == facts(python_lower(products[i]["asin"].get<std::string>())));
      if (!own.empty()) ++(own[0][0] ? affordable : expensive);
    }
  }
  CHECK(affordable > 0);
  CHECK(expensive > 0);
}

TEST_CASE("the board of WebShop is its page with the parts of a purchase's reward") {
  WebShop shop(webshop_config(WebShopConfig::Wrapper::ragen_v2));
  CHECK(shop.board() == std::nullopt);
  shop.reset(0, nullptr);
  const auto page = [&] { return json::parse(shop.board().value()); };
  const json goal = info_of(shop, true)["goal"];
  CHECK(page()["kind"] == "index");
  CHECK(page()["goal"]["instruction"] == goal["instruction_text"]);
  CHECK(page()["goal"]["price_cap"] == goal["price_upper"]);
  CHECK(page()["goal"]["price"] <= goal["price_upper"]);
  shop.step("search[" + goal["name"].get<std::string>() + "]");
  CHECK(page()["kind"] == "results");
  CHECK(page()["results"] == 50);
  REQUIRE(page()["products"].size() == 10);
  const std::string asin = page()["products"][0]["asin"];
  CHECK(page()["products"][0]["visited"] == false);
  shop.step("click[" + asin + "]");
  CHECK(page()["product"]["asin"] == asin);
  shop.step("click[features]");
  CHECK(page()["kind"] == "features");
  CHECK_FALSE(page()["texts"].empty());
  shop.step("click[< prev]");
  shop.step("click[< prev]");
  CHECK(page()["products"][0]["visited"] == true);
  shop.step("click[" + asin + "]");
  shop.step("click[buy now]");
  const json reward = page()["reward"];
  const json parts = info_of(shop, false)["reward_info"];
  CHECK(reward["total"] == info_of(shop, false)["raw_reward"]);
  CHECK(reward["type"] == parts["r_type"]);
  CHECK(reward["options"] == 0);
  CHECK(reward["requested_options"] == goal["goal_options"].size());
  CHECK(reward["price_matches"] == parts["r_price"]);
}

TEST_CASE("demonstrations search, choose options and buy, with habits of different quality") {
  const auto play = [](DemonstrationStyle style, bool mistake,
                       WebShopConfig::Wrapper wrapper = WebShopConfig::Wrapper::compact) {
    double sum = 0;
    constexpr int episodes = 40;
    WebShop shop(webshop_config(wrapper));
    for (int episode = 0; episode < episodes; ++episode) {
      DemonstrationDraws draws(7, static_cast<std::uint64_t>(episode));
      shop.reset(static_cast<std::uint64_t>(episode), nullptr);
      StepResult result;
      for (int turn = 0; turn < 40 && !result.done; ++turn) {
        const auto demonstration = shop.demonstrate({style, mistake && turn < 9, 1, draws});
        REQUIRE(demonstration->actions.size() == 1);
        CHECK(demonstration->reasoning.starts_with(" "));
        result = shop.step(demonstration->actions[0]);
        CHECK(result.valid);
      }
      CHECK(result.done);
      sum += result.reward;
    }
    return sum / episodes;
  };
  const double careful = play(DemonstrationStyle::careful, false), plain = play(DemonstrationStyle::plain, false);
  CHECK(careful > 0.95);
  CHECK(play(DemonstrationStyle::careful, false, WebShopConfig::Wrapper::ragen_v1) == careful);
  CHECK(plain > 0.4);
  CHECK(plain < 0.7);
  CHECK(play(DemonstrationStyle::positions, false) > plain);
  CHECK(play(DemonstrationStyle::careful, true) < careful);
}

TEST_CASE("the protocol serves WebShop") {
  REQUIRE(find_environment_type("webshop") != nullptr);
  const auto shop = make_environment("webshop", kWebShopJson);
  REQUIRE(shop->idle_keys().size() == 1);
  CHECK(shop->idle_keys()[0].first == "split");
  std::istringstream requests(
      "{\"reset\": 0}\n{\"step\": \"search[tea]\"}\n{\"step\": \"nonsense\"}\n{\"reset\": 99999}\n{\"reset\": 0, "
      "\"split\": \"validation\"}\n"
      "{\"reset\": 0, \"split\": \"test\"}\n");
  std::ostringstream answers;
  serve_environment(*shop, std::nullopt, requests, answers);
  std::istringstream lines(answers.str());
  std::vector<json> read;
  for (std::string line; std::getline(lines, line);) read.push_back(json::parse(line));
  REQUIRE(read.size() == 6);
  CHECK(read[0]["actions"].empty());
  CHECK(read[0]["info"]["goal"].contains("goal_options"));
  CHECK(read[1]["reward"].dump() == "0.0");
  CHECK(read[1]["info"]["available_actions"]["clickables"].size() == 12);
  CHECK(read[2]["reward"].dump() == "0");
  CHECK(read[3]["error"]["code"] == "level_not_found");
  CHECK(read[4] == read[0]);  // the split train of the configuration
  CHECK(read[5]["error"]["code"] == "malformed_line");
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
