#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "env/claims/claim.h"
#include "env/webshop/shop.h"

namespace starpo {

// Checks claims about requested, offered and chosen options, prices and products of a page, and the next action that
// reasoning plans. products: those that the observation shows. Text that no rule understands is ignored, and the same
// words count once. Rules: docs/algorithms.md.
std::vector<Claim> check_shop_claims(std::string_view reasoning, std::span<const std::string> actions, const Shop&,
                                     std::span<const std::uint32_t> products);

}  // namespace starpo
