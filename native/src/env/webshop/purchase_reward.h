#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/webshop/goals.h"
#include "env/webshop/product.h"

namespace starpo {

// Chosen options of a product: name and value, in the order in which they were chosen first.
using ChosenOptions = std::vector<std::pair<std::string, std::string>>;

// What a purchase earns: type * (attributes + options + price) / (requested attributes + requested options + 1).
struct PurchaseReward {
  double total = 0;
  double type = 0;  // 0, 0.1, 0.5 or 1
  bool query_matches = false, category_matches = false;
  double title_score = 0;
  int attributes = 0, requested_attributes = 0;
  int options = 0, requested_options = 0;
  bool price_matches = false;
};

PurchaseReward reward_purchase(const Product& purchased, double price, const ChosenOptions&,
                               const Product& goal_product, const Goal&);

// Returns the nouns of a title in lower case: those of a file if it lists them, else the alphabetic words that are not
// function words, common adjectives or units.
std::vector<std::string> title_nouns(const Product&);

// Returns the first color of WebShop's list that a text contains, or the text.
std::string normalize_color(std::string_view);

}  // namespace starpo
