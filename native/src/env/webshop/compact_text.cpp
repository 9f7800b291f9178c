#include "env/webshop/compact_text.h"

#include "env/webshop/action.h"
#include "env/webshop/unicode_text.h"

namespace starpo {
namespace {

constexpr std::size_t kCompactProducts = 3;

std::string results_text(const Shop& shop) {
  std::vector<std::string> lines;
  for (const std::uint32_t number : compact_products(shop)) {
    const Product product = shop.goals().catalogue().product(number);
    lines.push_back(std::to_string(lines.size() + 1) + " " + product.price_tag() + " " + python_lower(product.title));
  }
  return lines.empty() ? "no products" : join(lines, "\n");
}

std::string item_text(const Shop& shop) {
  std::vector<std::string> lines;
  for (const ProductOption& option : shop.product().options)
    lines.push_back(option.name + ": " + join(option.values, " | "));
  lines.push_back("buy now");
  return join(lines, "\n");
}

}  // namespace

std::vector<std::uint32_t> compact_products(const Shop& shop) {
  auto products = shop.products_of_page();
  if (products.size() > kCompactProducts) products.resize(kCompactProducts);
  return products;
}

std::string full_action(const Shop& shop, std::string_view action) {
  const auto parsed = parse_shop_action(action);
  if (shop.page() == ShopPage::results && parsed && parsed->name == "click") {
    const auto products = compact_products(shop);
    for (std::size_t i = 0; i < products.size(); ++i)
      if (parsed->argument == std::to_string(i + 1))
        return "click[" + python_lower(shop.goals().catalogue().product(products[i]).asin) + "]";
  }
  return std::string(action);
}

std::string compact_text(const Shop& shop) {
  switch (shop.page()) {
    case ShopPage::index: return shop.goal().instruction;
    case ShopPage::results: return results_text(shop);
    case ShopPage::item: {
      if (shop.chosen().empty()) return item_text(shop);
      std::vector<std::string> values;
      for (const auto& [name, value] : shop.chosen()) values.push_back(value);
      return "chosen " + join(values, ", ");
    }
    case ShopPage::description: return shop.product().description;
    case ShopPage::features: return join(shop.product().bullets, "\n");
    case ShopPage::attributes: return join(shop.product().attributes, "\n");
    case ShopPage::reviews: return "no reviews";
    case ShopPage::done: break;
  }
  return "bought";
}

}  // namespace starpo
