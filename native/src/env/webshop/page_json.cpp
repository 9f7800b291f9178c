#include "env/webshop/page_json.h"

#include <nlohmann/json.hpp>

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

const char* kind_of(ShopPage page) {
  switch (page) {
    case ShopPage::index: return "index";
    case ShopPage::results: return "results";
    case ShopPage::item: return "item";
    case ShopPage::description: return "description";
    case ShopPage::features: return "features";
    case ShopPage::reviews: return "reviews";
    case ShopPage::attributes: return "attributes";
    case ShopPage::done: break;
  }
  return "done";
}

Json goal_of(const Shop& shop) {
  const Goal& goal = shop.goal();
  const Product product = shop.goals().catalogue().product(goal.product);
  Json options = Json::array();
  for (const GoalOption& option : goal.options) options.push_back({{"name", option.name}, {"value", option.value}});
  return {{"asin", product.asin},
          {"title", product.title},
          {"price", shop.goals().price(goal.product)},
          {"instruction", goal.instruction},
          {"attributes", goal.attributes},
          {"options", options},
          {"price_cap", goal.price_cap == kNoPriceCap ? Json(nullptr) : Json(goal.price_cap)}};
}

Json results_of(const Shop& shop) {
  Json products = Json::array();
  for (const std::uint32_t number : shop.products_of_page()) {
    const Product product = shop.goals().catalogue().product(number);
    products.push_back({{"asin", product.asin},
                        {"title", product.title},
                        {"price", product.price_tag()},
                        {"visited", shop.visited(number)}});
  }
  return products;
}

Json product_of(const Shop& shop) {
  const Product& product = shop.product();
  Json options = Json::array();
  for (const ProductOption& option : product.options)
    options.push_back({{"name", option.name}, {"values", option.values}});
  return {{"asin", product.asin}, {"title", product.title}, {"price", product.price_tag()}, {"options", options}};
}

Json chosen_of(const Shop& shop) {
  Json chosen = Json::array();
  for (const auto& [name, value] : shop.chosen()) chosen.push_back({{"name", name}, {"value", value}});
  return chosen;
}

Json reward_of(const Shop& shop) {
  const PurchaseReward& reward = shop.purchase().value();
  return {{"total", reward.total},
          {"type", reward.type},
          {"attributes", reward.attributes},
          {"requested_attributes", reward.requested_attributes},
          {"options", reward.options},
          {"requested_options", reward.requested_options},
          {"price_matches", reward.price_matches},
          {"price", shop.price()}};
}

Json texts_of(const Shop& shop) {
  const Product& product = shop.product();
  switch (shop.page()) {
    case ShopPage::description: return Json::array({product.description});
    case ShopPage::features: return product.bullets;
    case ShopPage::attributes: return product.attributes;
    default: return Json::array();
  }
}

}  // namespace

std::string shop_page_json(const Shop& shop) {
  Json page{{"kind", kind_of(shop.page())}};
  switch (shop.page()) {
    case ShopPage::index: page["goal"] = goal_of(shop); break;
    case ShopPage::results:
      page["query"] = shop.keywords();
      page["number"] = shop.results_page();
      page["results"] = shop.results();
      page["products"] = results_of(shop);
      break;
    default:
      page["product"] = product_of(shop);
      page["chosen"] = chosen_of(shop);
      if (shop.page() == ShopPage::done)
        page["reward"] = reward_of(shop);
      else if (shop.page() != ShopPage::item)
        page["texts"] = texts_of(shop);
  }
  return page.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace starpo
