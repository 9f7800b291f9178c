#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "env/webshop/shop.h"

namespace starpo {

// Returns a page as a small policy reads it: the instruction, the first products of a search with numbers, or the
// options of a product and "buy now". It shows no other buttons; all of a page's actions are executed as usual.
std::string compact_text(const Shop&);

// Returns the products that compact_text() shows.
std::vector<std::uint32_t> compact_products(const Shop&);

// Returns the action with the asin in place of a product's number: click[1] opens the first product of
// compact_text().
std::string full_action(const Shop&, std::string_view action);

}  // namespace starpo
