#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "env/webshop/claims.h"
#include "webshop_fixtures.h"

using namespace starpo;
using nlohmann::json;

namespace {

struct ShopClaimCase {
  std::string reasoning, action;
  std::vector<std::string> claims;  // "state true: text"
};

void check_shop(const Shop& shop, const std::vector<ShopClaimCase>& cases) {
  for (const auto& [reasoning, action, expected] : cases) {
    CAPTURE(reasoning);
    std::vector<std::string> lines;
    const std::vector<std::string> actions{action};
    for (const Claim& claim : check_shop_claims(reasoning, action.empty() ? std::vector<std::string>{} : actions, shop,
                                                shop.products_of_page())) {
      CHECK(claim.holds == claim.fact.empty());
      lines.push_back(std::string(claim.kind == ClaimKind::grounding ? "state" : "plan") +
                      (claim.holds ? " true: " : " false: ") + reasoning.substr(claim.start, claim.end - claim.start));
    }
    CHECK(json(lines) == json(expected));
  }
}

Shop customer() {
  const auto goals = shop_goals();
  Shop shop(goals, false);
  shop.start(goal_with(*goals, "color: navy blue"));
  return shop;
}

}  // namespace

TEST_CASE("WebShop checks requested options and the plan before a search") {
  const Shop shop = customer();
  REQUIRE(shop.goal().instruction.ends_with("lower than 50.00 dollars"));
  check_shop(shop, {
                       {"need navy blue", "search[mugs navy blue]", {"state true: navy blue"}},
                       {"I need a mug that is navy blue and dishwasher safe, so I search for mugs.",
                        "search[mugs]",
                        {"state true: navy blue", "state true: dishwasher safe", "plan true: search"}},
                       {"The instruction does not ask about navy blue.", "search[mugs]", {"state false: navy blue"}},
                       {"The price must be lower than $500.", "search[mugs]", {"state false: 500"}},
                       {"The price must be lower than $50.", "search[mugs]", {"state true: 50"}},
                       {"Search for it.", "click[buy now]", {"plan false: Search"}},
                       {"Maybe I need red. find it", "search[mugs]", {}},
                   });
}

TEST_CASE("WebShop checks products and prices among results") {
  Shop shop = customer();
  shop.step("search[ceramic]");
  check_shop(
      shop,
      {
          {"the price is low", "click[b0mug00001]", {"state true: low"}},
          {"the price is low", "click[b0cup00001]", {"state false: low"}},
          {"the price is high", "click[b0cup00001]", {"state true: high"}},
          {"B0MUG00001 costs $12.5, B0CUP00001 costs $12.5.",
           "click[b0mug00001]",
           {"state true: B0MUG00001", "state true: 12.5", "state true: B0CUP00001"}},
          {"b0abcdefgh is below 20 dollars", "", {"state false: b0abcdefgh", "state true: 20"}},
          {"B0CUP00001 is too expensive, so I open B0MUG00001.",
           "click[b0mug00001]",
           {"state true: B0CUP00001", "state true: expensive", "plan true: open B0MUG00001", "state true: B0MUG00001"}},
          {"I go back.", "click[b0mug00001]", {"plan false: go back"}},
          {"next page", "click[next >]", {"plan true: next page"}},
      });
}

TEST_CASE("WebShop checks options, the price and the purchase on the page of a product") {
  Shop shop = customer();
  shop.step("search[ceramic]");
  shop.step("click[b0mug00001]");
  check_shop(shop,
             {
                 {"It has red and navy blue, but x-large is not available.",
                  "",
                  {"state true: red", "state true: navy blue", "state false: x-large"}},
                 {"need red", "click[red]", {"state false: red"}},
                 {"navy blue is chosen. buy it", "click[buy now]", {"state false: navy blue", "plan true: buy it"}},
                 {"I choose navy blue.", "click[navy blue]", {"plan true: choose navy blue"}},
                 {"I choose navy blue.", "click[red]", {"plan false: choose navy blue"}},
                 {"I click on the option small, then I buy it.", "click[small]", {"plan false: buy it"}},
                 {"It costs $12.50, which is within budget.", "", {"state true: 12.50", "state true: budget"}},
                 {"The price is 15 dollars.", "", {"state false: 15"}},
                 {"The price is over 10 and under 20.", "", {"state true: 10", "state true: 20"}},
                 {"It holds 12 oz.", "click[buy now]", {}},
             });
  shop.step("click[navy blue]");
  check_shop(shop, {{"navy blue is already chosen", "", {"state true: navy blue"}}});
}
