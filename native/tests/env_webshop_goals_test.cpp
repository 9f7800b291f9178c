#include <doctest/doctest.h>

#include <set>

#include "env/webshop/fuzzy_match.h"
#include "env/webshop/purchase_reward.h"
#include "error_code.h"
#include "vectors.h"
#include "webshop_fixtures.h"

using namespace starpo;

namespace {

// A purchase of a product for the first goal of a catalogue of two.
struct PurchaseCase {
  Product goal_product = shop_products()[0], purchased = shop_products()[0];
  Goal goal{0, "", {"dishwasher safe"}, {{"size", "small"}, {"color", "red"}}, true, 20};
  ChosenOptions chosen;
  double price = 12.5;

  PurchaseReward reward() const { return reward_purchase(purchased, price, chosen, goal_product, goal); }
};

int matched_options(const std::vector<GoalOption>& requested, bool has_names, const ChosenOptions& chosen) {
  PurchaseCase purchase;
  purchase.goal.options = requested;
  purchase.goal.has_option_names = has_names;
  purchase.chosen = chosen;
  return purchase.reward().options;
}

}  // namespace

TEST_CASE("goals, prices, caps and their order are those of Python's random") {
  // Computed with CPython: random.seed(7), the price of a range, a cap per product, then random.seed(233) and shuffle.
  const auto goals = shop_goals();
  CHECK(goals->price(0) == 12.5);
  CHECK(goals->price(1) == 930.7641126591504);
  CHECK(goals->price(2) == 100);
  REQUIRE(goals->size() == 12);
  CHECK(goals->goal(0).instruction ==
        "Find me dishwasher safe mugs with color: 1/2 tan, and size: x-large, and price lower than 50.00 dollars");
  CHECK(goals->goal(1).instruction == "Find me a tent with model: next >, and price lower than 140.00 dollars");
  CHECK(goals->goal(2).instruction ==
        "Find me dishwasher safe mugs with color: red, and size: small, and price lower than 50.00 dollars");
  const Goal goal = goals->goal(0);
  CHECK(goal.product == 0);
  CHECK(goal.attributes == std::vector<std::string>{"dishwasher safe"});
  CHECK(goal.price_cap == 50);
  REQUIRE(goal.options.size() == 2);
  CHECK(goal.options[0].name == "color");
  CHECK(goal.options[1].value == "x-large");

  const GoalList other(std::make_shared<const Catalogue>(shop_products()), false, 8);
  CHECK(other.price(1) == 921.5370566411997);
  CHECK(other.goal(1).instruction == "Find me a tent with model: next >, and price lower than 130.00 dollars");
}

TEST_CASE("human goals have values without names, no final dots, and at least one attribute") {
  const auto goals = shop_goals(shop_products(), true);
  REQUIRE(goals->size() == 1);
  const Goal goal = goals->goal(0);
  CHECK(goal.instruction == "i need a mug, and price lower than 50.00 dollars");
  CHECK_FALSE(goal.has_option_names);
  REQUIRE(goal.options.size() == 1);
  CHECK(goal.options[0].value == "navy");
}

TEST_CASE("a price cap is the larger of two draws from the next four multiples of ten, at most 990") {
  const auto cap_at = [](double price) {
    auto products = shop_products();
    products.resize(1);
    products[0].prices = {price};
    products[0].options.clear();
    const auto goals = std::make_shared<const GoalList>(std::make_shared<const Catalogue>(products), false, 3);
    const Goal goal = goals->goal(0);
    CHECK((goal.instruction.find("price lower") != std::string::npos) == (goal.price_cap != kNoPriceCap));
    return goal.price_cap;
  };
  CHECK(cap_at(5) == 30);
  CHECK(cap_at(955) == 980);
  CHECK(cap_at(975) == 990);
  for (const double price : {980.0, 985.0, 990.0, 1299.5}) CHECK(cap_at(price) == kNoPriceCap);
}

TEST_CASE("an option group without values leaves a product without goals") {
  auto products = shop_products();
  products[0].options[0].values.clear();
  CHECK(shop_goals(products)->size() == 6);
  for (auto& product : products) product.instruction.reset();
  CHECK(error_code_of([&] { shop_goals(products); }) == "catalogue_invalid");
}

TEST_CASE("the product of a goal with its options earns 1") {
  PurchaseCase purchase;
  purchase.chosen = {{"size", "small"}, {"color", "red"}};
  const PurchaseReward reward = purchase.reward();
  CHECK(reward.total == 1);
  CHECK(reward.type == 1);
  CHECK(reward.attributes == 1);
  CHECK(reward.options == 2);
  purchase.chosen = {{"size", "small"}};
  CHECK(purchase.reward().total == 3.0 / 4);
  purchase.price = 20;  // equal to the cap
  CHECK(purchase.reward().price_matches);
  purchase.price = 20.01;
  CHECK(purchase.reward().total == 2.0 / 4);
}

TEST_CASE("every goal of the synthetic catalogue can be fulfilled") {
  for (const bool human_goals : {false, true}) {
    const GoalList goals(Catalogue::open("synthetic:60:3", human_goals), human_goals, 0);
    for (std::size_t i = 0; i < goals.size(); ++i) {
      const Goal goal = goals.goal(i);
      const Product product = goals.catalogue().product(goal.product);
      ChosenOptions chosen;
      for (const GoalOption& option : goal.options) chosen.emplace_back(option.name, option.value);
      CHECK_MESSAGE(reward_purchase(product, goals.price(goal.product), chosen, product, goal).total == 1,
                    goal.instruction);
    }
  }
}

TEST_CASE("the type of a purchase is scored by query, category and nouns of the title") {
  PurchaseCase purchase;
  const auto type = [&](std::vector<std::string> desired, std::vector<std::string> offered) {
    purchase.goal_product.nouns = std::move(desired);
    purchase.purchased.nouns = std::move(offered);
    return purchase.reward().type;
  };
  CHECK(type({"mug"}, {"mug"}) == 1);
  CHECK(type({"mug"}, {"cup"}) == 0);  // overrides the query
  CHECK(type({}, {"cup"}) == 1);       // a title without nouns scores 0.2
  purchase.purchased.query = "cups";
  CHECK(purchase.reward().category_matches);  // two shared parts
  purchase.purchased.product_category = "Kitchen › Other";
  CHECK_FALSE(purchase.reward().category_matches);
  CHECK(type({}, {"cup"}) == 0.5);
  CHECK(type({"a", "b", "c", "d", "e"}, {"a"}) == 0.5);  // 0.2 is not above 0.2
  CHECK(type({"a", "b", "c", "d"}, {"a"}) == 1);
  CHECK(type({"a", "a", "a", "a", "a"}, {"a"}) == 0.5);  // duplicates count in the goal only
  CHECK(type({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}, {"1"}) == 0.5);
  CHECK(type({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}, {"1"}) == 0.1);
}

TEST_CASE("without a file, the nouns of a title are its words without function words and common adjectives") {
  Product product;
  product.title = "Women's Red Running Shoes, Size 9 for the Gym – Ümlaut";
  CHECK(title_nouns(product) == std::vector<std::string>{"women", "running", "shoes", "size", "gym", "ümlaut"});
}

TEST_CASE("attributes match by words, or as text of the product") {
  PurchaseCase purchase;
  const auto matched = [&](const std::string& attribute) {
    purchase.goal.attributes = {attribute};
    return purchase.reward().attributes == 1;
  };
  CHECK(matched("safe dishwasher"));
  CHECK(matched("ceramic"));        // in the title
  CHECK(matched("for tea."));       // in the description
  CHECK_FALSE(matched("For Tea"));  // the goal's attribute keeps its case
  CHECK_FALSE(matched("microwave safe oven"));
  purchase.purchased.bullets = {"one two", "three"};
  CHECK(matched("two three"));  // bullets are joined by spaces
}

TEST_CASE("options match by words after colors are normalized") {
  CHECK(matched_options({{"", "dark navy"}}, false, {{"color", "navy blue"}}) == 0);  // blue comes before navy
  CHECK(matched_options({{"", "blue whale"}}, false, {{"color", "navy blue"}}) == 1);
  CHECK(matched_options({{"", "titanium"}}, false, {{"material", "tan"}}) == 1);  // titanium contains tan
  CHECK(matched_options({{"color", "navy blue"}}, true, {{"color", "blue"}}) == 1);
  CHECK(matched_options({{"color", "red"}}, true, {{"color", "dark red"}}) == 0);  // dark comes before red
  CHECK(matched_options({{"size", "x-large"}}, true, {{"size", "large"}}) == 1);
  CHECK(matched_options({{"size", "large"}}, true, {{"size", "x-large"}}) == 0);
  CHECK(matched_options({{"size", "xx-large"}}, true, {{"size", "x-large"}}) == 0);
  CHECK(matched_options({{"", "xx-large"}}, false, {{"size", "x-large"}}) == 1);
  CHECK(matched_options({{"size", "small"}, {"fit", "small"}}, true, {{"size", "small"}}) == 2);
  CHECK(matched_options({{"size", "small"}}, true, {}) == 0);
}

TEST_CASE("normalize_color tries WebShop's colors in order") {
  for (const auto& color : read_vectors("webshop_colours.json", "colours"))
    CHECK(normalize_color("? " + color.get<std::string>()) != "? " + color.get<std::string>());
  CHECK(normalize_color("hundred") == "red");
  CHECK(normalize_color("light black") == "black");
  CHECK(normalize_color("xyz") == "xyz");
}

TEST_CASE("token_set_ratio matches rapidfuzz") {
  // Computed with rapidfuzz 3.14.
  CHECK(token_set_ratio("red mug", "MUG, red!") == 100);
  CHECK(token_set_ratio("red mug", "mug") == 100);
  CHECK(token_set_ratio("x-large", "xx-large") == 93);
  CHECK(token_set_ratio("x-large", "('size', 'xx-large')") == 83);
  CHECK(token_set_ratio("long sleeves", "long sleeve") == 96);
  CHECK(token_set_ratio("café", "caf") == 100);  // characters from U+0080 to U+00FF are removed
  CHECK(token_set_ratio("a_b", "a b") == 100);
  CHECK(token_set_ratio("", "a") == 0);
  CHECK(token_set_ratio("!", "!") == 0);
  CHECK(token_set_ratio("abc", "xyz") == 0);
}
