#include "env/webshop/demonstration.h"

#include <algorithm>

#include "env/webshop/compact_text.h"
#include "env/webshop/unicode_text.h"

namespace starpo {
namespace {

Demonstration click(std::string reasoning, const std::string& text) {
  return {" " + std::move(reasoning), {"click[" + text + "]"}};
}

// Returns what the instruction asks for, without options and price.
std::string requested_item(const Goal& goal) {
  std::string text = goal.instruction;
  for (const char* rest : {goal.has_option_names ? " with " : ", and price lower", ", and price lower"})
    text = text.substr(0, text.find(rest));
  constexpr std::string_view request = "Find me ";
  return text.starts_with(request) ? text.substr(request.size()) : text;
}

Demonstration search(const Shop& shop, const DemonstrationRequest& request) {
  std::string query = requested_item(shop.goal());
  std::vector<std::string> values;
  for (const GoalOption& option : shop.goal().options) values.push_back(option.value);
  const bool with_options = request.style != DemonstrationStyle::plain && !values.empty();
  if (request.mistake) query = query.substr(0, query.find(' '));
  if (!with_options) return {" find it", {"search[" + query + "]"}};
  return {" need " + join(values, ", "), {"search[" + query + " " + join(values, " ") + "]"}};
}

Demonstration open_product(const Shop& shop, const DemonstrationRequest& request) {
  const auto products = compact_products(shop);
  if (products.empty()) return click("find it again", "back to search");
  const auto number = [](std::ptrdiff_t place) { return std::to_string(place + 1); };
  if (request.mistake) return click("open it", number(request.draws.below(static_cast<int>(products.size()))));
  if (request.style == DemonstrationStyle::plain) return click("open it", number(0));
  const auto affordable = std::ranges::find_if(
      products, [&](std::uint32_t product) { return shop.goals().price(product) <= shop.goal().price_cap; });
  const bool found = affordable != products.end();
  return click("the price is " + std::string(found ? "low" : "high"),
               number(found ? affordable - products.begin() : 0));
}

// Returns the requested values that the product has and that aren't chosen yet.
std::vector<std::string> missing_values(const Shop& shop) {
  std::vector<std::string> missing;
  for (const GoalOption& wanted : shop.goal().options)
    for (const ProductOption& option : shop.product().options) {
      if (!wanted.name.empty() && wanted.name != option.name) continue;
      if (std::ranges::find(option.values, wanted.value) == option.values.end()) continue;
      if (std::ranges::find(shop.chosen(), std::pair(option.name, wanted.value)) == shop.chosen().end())
        missing.push_back(wanted.value);
    }
  return missing;
}

Demonstration choose_or_buy(const Shop& shop, const DemonstrationRequest& request) {
  if (request.mistake && !shop.product().options.empty()) {
    const auto& options = shop.product().options;
    const auto& values =
        options[static_cast<std::size_t>(request.draws.below(static_cast<int>(options.size())))].values;
    if (!values.empty())
      return click("take it", values[static_cast<std::size_t>(request.draws.below(static_cast<int>(values.size())))]);
  }
  if (request.style == DemonstrationStyle::plain) return click("buy it", "buy now");
  const auto missing = missing_values(shop);
  const bool enough = request.style == DemonstrationStyle::positions && !shop.chosen().empty();
  if (missing.empty() || enough) return click("buy it", "buy now");
  return click("need " + join(missing, ", "), missing[0]);
}

}  // namespace

Demonstration demonstrate_shopping(const Shop& shop, const DemonstrationRequest& request) {
  switch (shop.page()) {
    case ShopPage::index: return search(shop, request);
    case ShopPage::results: return open_product(shop, request);
    case ShopPage::item: return choose_or_buy(shop, request);
    case ShopPage::done: return {" find it", {"search[" + requested_item(shop.goal()) + "]"}};
    default: return click("go back", "< prev");
  }
}

}  // namespace starpo
