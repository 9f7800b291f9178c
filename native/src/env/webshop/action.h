#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace starpo {

// An action in WebShop's grammar, such as search[red mug] or click[buy now].
struct ShopAction {
  std::string_view name;
  std::string argument;  // in lower case
};

// Parses like Python's re.match(r'(.+)\[(.+)\]'): the argument begins at the last bracket that leaves one, and text
// after the last closing bracket is ignored. Returns nothing if the text has no such form.
std::optional<ShopAction> parse_shop_action(std::string_view text);

}  // namespace starpo
