#include <doctest/doctest.h>

#include "env/webshop/action.h"
#include "env/webshop/shop.h"
#include "error_code.h"
#include "webshop_fixtures.h"

using namespace starpo;

namespace {

using Texts = std::vector<std::string>;

Shop shop_for(const std::string& instruction, bool show_attributes = false,
              const std::vector<Product>& products = shop_products()) {
  const auto goals = shop_goals(products);
  Shop shop(goals, show_attributes);
  shop.start(goal_with(*goals, instruction));
  return shop;
}

Shop shop_on_item(const std::string& asin, bool show_attributes = false) {
  Shop shop = shop_for("tent", show_attributes);
  REQUIRE(shop.step("search[mug cup tent]").executed);
  REQUIRE(shop.step("click[" + asin + "]").executed);
  return shop;
}

std::vector<Product> many_mugs(int count) {
  std::vector<Product> products(static_cast<std::size_t>(count), shop_products()[0]);
  for (std::size_t i = 0; i < products.size(); ++i) products[i].asin = "MUG" + std::to_string(100 + i);
  return products;
}

bool is_no_action(const std::string& text) {
  Shop shop = shop_on_item("b0mug00001");
  const std::string before = shop.text();
  return !shop.step(text).executed && shop.text() == before;
}

}  // namespace

TEST_CASE("parse_shop_action is Python's (.+)\\[(.+)\\]") {
  const auto parsed = [](std::string_view text) {
    const auto action = parse_shop_action(text);
    return action ? std::string(action->name) + "|" + action->argument : "none";
  };
  CHECK(parsed("search[Red MUG]") == "search|red mug");
  CHECK(parsed("search[red] mug") == "search|red");
  CHECK(parsed("search[a [b] c]") == "search[a |b] c");
  CHECK(parsed("click[x]]") == "click|x]");
  CHECK(parsed("search[[]") == "search|[");
  CHECK(parsed("search[\u00C4\u0130\u03A3]") == "search|\u00E4i\u0307\u03C2");
  for (const char* invalid : {"", "search", "search[]", "[x]", "[", "]", "search[x", "search]x[", "search\n[x]", "[]]"})
    CHECK(parsed(invalid) == "none");
  CHECK(parsed("click[a]\n[b]") == "click|a");
}

TEST_CASE("actions that WebShop ignores change nothing") {
  for (const char* text : {"", "buy now", "Click[buy now]", " click[buy now]", "click[search]", "click[]", "search[]",
                           "click[b0mug00001]", "click[next >]", "buy[now]", "click[ buy now]", "search"})
    CHECK_MESSAGE(is_no_action(text), text);
  CHECK_FALSE(is_no_action("click[BUY NOW]"));
}

TEST_CASE("the index page shows the instruction and a search bar") {
  const Shop shop = shop_for("a tent with model: two");
  CHECK(shop.page() == ShopPage::index);
  CHECK(shop.text() == "WebShop [SEP] Instruction: [SEP] " + shop.goal().instruction + " [SEP] Search");
  CHECK(shop.rich_text() == "WebShop\nInstruction: \n" + shop.goal().instruction + "\n[button] Search [button_]\n");
  CHECK(shop.available_actions().has_search_bar);
  CHECK(shop.available_actions().clickables == Texts{"search"});
}

TEST_CASE("results show ten products per page, without an upper limit of pages") {
  Shop shop = shop_for("mugs", false, many_mugs(23));
  const std::string instruction = "Instruction: [SEP] " + shop.goal().instruction + " [SEP] Back to Search [SEP] ";
  CHECK(shop.step("search[mug]").executed);
  CHECK(shop.text().starts_with(instruction +
                                "Page 1 (Total results: 23) [SEP] Next > [SEP] MUG100 [SEP] Rosmere Red " +
                                "Ceramic Mug [SEP] $12.5 [SEP] MUG101"));
  CHECK_FALSE(shop.available_actions().has_search_bar);
  CHECK(shop.available_actions().clickables.size() == 12);
  CHECK(shop.available_actions().clickables[2] == "mug100");
  CHECK_FALSE(shop.step("click[< prev]").executed);
  shop.step("click[next >]");
  shop.step("click[next >]");
  CHECK(shop.available_actions().clickables ==
        Texts{"back to search", "< prev", "next >", "mug120", "mug121", "mug122"});
  shop.step("click[next >]");
  CHECK(shop.text() == instruction + "Page 4 (Total results: 23) [SEP] < Prev [SEP] Next >");
  shop.step("click[next >]");
  shop.step("click[< prev]");
  shop.step("click[< prev]");
  CHECK(shop.available_actions().clickables.size() == 6);
}

TEST_CASE("a search finds at most 50 products") {
  Shop shop = shop_for("mugs", false, many_mugs(60));
  shop.step("search[mug]");
  CHECK(shop.text().find("(Total results: 50)") != std::string::npos);
  shop.step("search[<q> mugs ]");
  CHECK(shop.text().find("(Total results: 60)") != std::string::npos);
  shop.step("search[<r>]");
  CHECK(shop.text().find("(Total results: 50)") != std::string::npos);
  const std::string first = shop.text();
  shop.step("search[<r> again]");
  CHECK(shop.text() == first);
}

TEST_CASE("special first words select by query, category or at random") {
  Shop shop = shop_for("tent");
  const auto total = [&](const std::string& query) {
    shop.step("search[" + query + "]");
    const std::string text = shop.text();
    return text.substr(text.find("results: ") + 9, 1);
  };
  CHECK(total("<q> cups") == "1");
  CHECK(total("<q> cup") == "0");
  CHECK(total("<c> garden") == "2");
  CHECK(total("<c> garden more") == "2");
  CHECK(total("<c>") == "0");
  CHECK(total("<a> hand made") == "0");
  CHECK(total("<r>") == "3");
  CHECK(total("ceramic <q>") == "2");
}

TEST_CASE("an item page shows options, price and buttons in WebShop's order") {
  Shop shop = shop_on_item("b0mug00001");
  CHECK(shop.text() ==
        "Instruction: [SEP] " + shop.goal().instruction +
            " [SEP] Back to Search [SEP] < Prev [SEP] size [SEP] small [SEP] x-large [SEP] color [SEP] red [SEP] navy "
            "blue [SEP] 1/2 tan [SEP] Rosmere Red Ceramic Mug [SEP] Price: $12.5 [SEP] Rating: N.A. [SEP] Description "
            "[SEP] Features [SEP] Reviews [SEP] Buy Now");
  CHECK(shop.available_actions().clickables == Texts{"back to search", "< prev", "description", "features", "reviews",
                                                     "buy now", "small", "x-large", "red", "navy blue", "1/2 tan"});
  CHECK(shop_on_item("b0mug00001", true).available_actions().clickables[5] == "attributes");
  const std::string price = shop_on_item("b0cup00001").text();
  CHECK(price.find("Price: $900.0 to $995.0") != std::string::npos);
}

TEST_CASE("chosen options are replaced, and only text_rich shows them") {
  Shop shop = shop_on_item("b0mug00001");
  const std::string before = shop.text();
  CHECK(shop.step("click[small]").executed);
  CHECK(shop.step("click[red]").executed);
  CHECK(shop.text() == before);
  CHECK(shop.rich_text().starts_with("You have clicked red.\nYou have clicked small.\nInstruction:\n"));
  CHECK(shop.rich_text().find("size\n  [clicked button] small [clicked button_]\n  [button] x-large [button_]\n") !=
        std::string::npos);
  shop.step("click[x-large]");
  CHECK(shop.rich_text().starts_with("You have clicked red.\nYou have clicked x-large.\nInstruction:\n"));
  shop.step("click[features]");
  shop.step("click[< prev]");
  CHECK(shop.rich_text().starts_with("You have clicked red.\n"));
  shop.step("click[< prev]");
  CHECK(shop.page() == ShopPage::results);
  shop.step("click[b0mug00001]");
  CHECK_FALSE(shop.rich_text().starts_with("You have clicked"));
}

TEST_CASE("text_rich marks options by their text in the address, as WebShop does") {
  auto products = shop_products();
  products[2].options = {{"model", {"caf\u00E9", "say \"hi\"", "two"}}, {"two", {"a"}}};
  Shop shop = shop_for("tent", false, products);
  shop.step("search[\"two\" tent]");
  shop.step("click[b0tent0001]");
  CHECK(shop.rich_text().starts_with("You have clicked two.\n"));  // from the query
  shop.step("search[tent]");
  shop.step("click[b0tent0001]");
  shop.step("click[caf\u00E9]");  // not ASCII, so the address has an escape
  CHECK(shop.rich_text().starts_with("Instruction:\n"));
  shop.step("click[say \"hi\"]");
  CHECK(shop.rich_text().starts_with("Instruction:\n"));
  shop.step("click[a]");  // the name of its group is in the address too
  CHECK(shop.rich_text().starts_with("You have clicked a.\nYou have clicked two.\n"));
}

TEST_CASE("text_rich marks visited products until the next search page") {
  Shop shop = shop_on_item("b0mug00001");
  shop.step("click[< prev]");
  CHECK(shop.rich_text().find("\n\n[clicked button] B0MUG00001 [clicked button_]\n") != std::string::npos);
  CHECK(shop.rich_text().find("\n\n[button] B0CUP00001 [button_]\nNorthbay Ceramic Cup\n$900.0 to $995.0\n") !=
        std::string::npos);
  shop.step("click[back to search]");
  shop.step("search[mug]");
  CHECK(shop.rich_text().find("clicked") == std::string::npos);
}

TEST_CASE("pages of a product show its texts; blank ones vanish or leave an empty part") {
  Shop shop = shop_on_item("b0mug00001", true);
  const std::string top = "Instruction: [SEP] " + shop.goal().instruction + " [SEP] Back to Search [SEP] < Prev";
  const auto page = [&](const std::string& name) {
    shop.step("click[" + name + "]");
    const std::string text = shop.text();
    CHECK(shop.available_actions().clickables == Texts{"back to search", "< prev"});
    CHECK(shop.step("click[< prev]").executed);
    CHECK(shop.page() == ShopPage::item);
    return text;
  };
  CHECK(page("description") == top + " [SEP] A mug for tea.");
  CHECK(page("features") == top + " [SEP] Dishwasher safe [SEP]  [SEP] ");
  CHECK(page("reviews") == top);
  CHECK(page("attributes") == top +
                                  " [SEP] dishwasher safe [SEP] hand made [SEP] garden [SEP] mugs [SEP] Home › "
                                  "Kitchen › Mugs");
  Shop cup = shop_on_item("b0cup00001");
  cup.step("click[description]");
  CHECK(cup.text() == top);
  shop.step("click[features]");
  CHECK(shop.rich_text().ends_with("[button] < Prev [button_]\n Dishwasher safe\n \n \n"));
}

TEST_CASE("an option with the text of a button acts as the button") {
  Shop shop = shop_on_item("b0tent0001");
  CHECK(shop.available_actions().clickables == Texts{"back to search", "< prev", "description", "features", "reviews",
                                                     "buy now", "search", "next >", "attributes", "two"});
  CHECK_FALSE(shop.step("click[search]").executed);
  shop.step("click[next >]");  // no button of this page, so it is the option
  CHECK(shop.rich_text().starts_with("You have clicked next >.\n"));
  shop.step("click[description]");
  CHECK(shop.page() == ShopPage::description);
  shop.step("click[< prev]");
  shop.step("click[attributes]");  // also without show_attributes
  CHECK(shop.page() == ShopPage::attributes);
  shop.step("click[< prev]");
  CHECK(shop.step("click[buy now]").purchase);
}

TEST_CASE("of two groups with the same value only the later can be clicked") {
  auto products = shop_products();
  products[2].options = {{"first", {"same"}}, {"second", {"same"}}};
  Shop shop = shop_for("tent", false, products);
  shop.step("search[tent]");
  shop.step("click[b0tent0001]");
  shop.step("click[same]");
  shop.step("click[buy now]");
  CHECK(shop.text().find("options [SEP] {\"second\": \"same\"} [SEP] attrs") != std::string::npos);
}

TEST_CASE("a purchase opens the last page, where only a search works") {
  Shop shop = shop_on_item("b0tent0001");
  shop.step("click[two]");
  const ShopStep bought = shop.step("click[buy now]");
  REQUIRE(bought.purchase);
  CHECK(shop.page() == ShopPage::done);
  CHECK(shop.available_actions().clickables.empty());
  CHECK(
      shop.text().starts_with("Thank you for shopping with us! [SEP] Your code: [SEP] None [SEP] (Paste it in your "
                              "MTurk interface.) [SEP] Purchased [SEP] asin [SEP] B0TENT0001 [SEP] options [SEP] "
                              "{\"model\": \"two\"} [SEP] attrs"));
  CHECK_FALSE(shop.step("click[buy now]").executed);
  CHECK_FALSE(shop.step("click[back to search]").executed);
  CHECK(shop.step("search[mug]").executed);
  CHECK(shop.page() == ShopPage::results);
}

TEST_CASE("queries of any size and content are searched") {
  Shop shop = shop_for("tent");
  for (const std::string& query :
       {std::string(10000, 'x'), std::string("\U0001F600\U0001F3FB"), std::string("\x01\x02"),
        std::string("search_results item_page"), std::string("  ")}) {
    CHECK(shop.step("search[" + query + "]").executed);
    CHECK(shop.text().find("Page 1 (Total results: 0)") != std::string::npos);
  }
  Shop routed = shop_for("tent");
  routed.step("search[item_page tent]");
  routed.step("click[next >]");
  routed.step("click[< prev]");  // routed by the page, not by the words of the query
  CHECK(routed.text().find("Page 1 ") != std::string::npos);
}

TEST_CASE("a goal that does not exist is rejected") {
  const auto goals = shop_goals();
  Shop shop(goals, false);
  CHECK(error_code_of([&] { shop.start(goals->size()); }) == "level_not_found");
}
