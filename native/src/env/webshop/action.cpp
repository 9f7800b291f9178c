#include "env/webshop/action.h"

#include "env/webshop/unicode_text.h"

namespace starpo {

std::optional<ShopAction> parse_shop_action(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t close = line.rfind(']');
  if (close == std::string_view::npos || close < 3) return std::nullopt;
  const std::size_t open = line.rfind('[', close - 2);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  return ShopAction{line.substr(0, open), python_lower(line.substr(open + 1, close - open - 1))};
}

}  // namespace starpo
