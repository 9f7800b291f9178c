#include "env/webshop/purchase_reward.h"

#include <algorithm>
#include <array>
#include <set>

#include "env/webshop/fuzzy_match.h"
#include "env/webshop/unicode_text.h"

namespace starpo {
namespace {

constexpr int kMatchThreshold = 85;  // of token_set_ratio, exclusive

// In the order in which they are tried.
constexpr std::array<std::string_view, 102> kColorWords{
    "alabaster",  "apricot",   "aqua",     "ash",      "asphalt",   "azure",     "banana",   "beige",    "black",
    "blue",       "blush",     "bordeaux", "bronze",   "brown",     "burgundy",  "camel",    "camo",     "caramel",
    "champagne",  "charcoal",  "cheetah",  "chestnut", "chocolate", "christmas", "coffee",   "cognac",   "copper",
    "coral",      "cranberry", "cream",    "crystal",  "dark",      "denim",     "eggplant", "elephant", "espresso",
    "fuchsia",    "gold",      "granite",  "grape",    "graphite",  "grass",     "gray",     "green",    "grey",
    "heather",    "indigo",    "ivory",    "ivy",      "khaki",     "lavender",  "lemon",    "leopard",  "light",
    "lilac",      "lime",      "magenta",  "maroon",   "mauve",     "merlot",    "midnight", "mint",     "mocha",
    "multicolor", "mushroom",  "mustard",  "natural",  "navy",      "nude",      "olive",    "orange",   "peach",
    "pewter",     "pink",      "plum",     "purple",   "rainbow",   "red",       "rose",     "royal",    "rust",
    "sand",       "sapphire",  "seashell", "silver",   "skull",     "slate",     "steel",    "stone",    "stonewash",
    "sunflower",  "tan",       "taupe",    "teal",     "tiger",     "turquoise", "violet",   "walnut",   "wheat",
    "white",      "wine",      "yellow"};

// Words of titles that are rarely nouns, sorted.
constexpr std::array<std::string_view, 111> kOtherWords{
    "a",         "adjustable", "all",     "an",          "and",         "any",      "are",        "as",      "at",
    "be",        "beige",      "best",    "big",         "black",       "blue",     "breathable", "brown",   "but",
    "by",        "casual",     "classic", "comfortable", "compatible",  "cute",     "down",       "durable", "each",
    "easy",      "elegant",    "every",   "extra",       "for",         "free",     "from",       "good",    "gray",
    "great",     "green",      "grey",    "her",         "high",        "his",      "ideal",      "in",      "into",
    "is",        "it",         "its",     "large",       "lightweight", "long",     "low",        "medium",  "mini",
    "modern",    "more",       "most",    "multi",       "my",          "natural",  "new",        "no",      "non",
    "not",       "of",         "off",     "on",          "or",          "orange",   "organic",    "our",     "out",
    "over",      "per",        "perfect", "pink",        "plus",        "portable", "premium",    "purple",  "red",
    "resistant", "reusable",   "short",   "small",       "so",          "soft",     "stretchy",   "than",    "that",
    "the",       "their",      "then",    "these",       "this",        "those",    "to",         "under",   "up",
    "very",      "via",        "vintage", "washable",    "waterproof",  "white",    "wireless",   "with",    "without",
    "yellow",    "you",        "your"};
static_assert(std::ranges::is_sorted(kOtherWords));

// Returns the distinct parts of a path such as "Beauty › Skin Care".
std::set<std::string> category_parts(const Product& product) {
  std::set<std::string> parts;
  for (const std::string& part : split(product.product_category, "\u203A")) parts.emplace(python_strip(part));
  return parts;
}

void score_type(const Product& purchased, const Product& goal_product, PurchaseReward& reward) {
  reward.query_matches = purchased.query == goal_product.query;
  std::vector<std::string> shared;
  std::ranges::set_intersection(category_parts(purchased), category_parts(goal_product), std::back_inserter(shared));
  reward.category_matches = shared.size() >= 2;

  const std::vector<std::string> desired = title_nouns(goal_product), offered = title_nouns(purchased);
  const std::set<std::string> desired_set(desired.begin(), desired.end()), offered_set(offered.begin(), offered.end());
  shared.clear();
  std::ranges::set_intersection(desired_set, offered_set, std::back_inserter(shared));
  reward.title_score = desired.empty() ? 0.2 : static_cast<double>(shared.size()) / static_cast<double>(desired.size());

  reward.type = reward.query_matches || reward.category_matches || reward.title_score > 0.2 ? 1.0 : 0.5;
  // A title without shared nouns overrides even a matching query.
  if (reward.title_score < 0.1) reward.type = 0.1;
  if (reward.title_score == 0) reward.type = 0;
}

int count_attributes(const Product& purchased, const Goal& goal) {
  const std::string title = python_lower(purchased.title), bullets = python_lower(join(purchased.bullets, " ")),
                    description = python_lower(purchased.description);
  return static_cast<int>(std::ranges::count_if(goal.attributes, [&](const std::string& requested) {
    const auto matches = [&](const std::string& offered) {
      return token_set_ratio(offered, requested) > kMatchThreshold;
    };
    const auto contains = [&](const std::string& text) { return text.find(requested) != std::string::npos; };
    return std::ranges::any_of(purchased.attributes, matches) || contains(title) || contains(bullets) ||
           contains(description);
  }));
}

// Returns what WebShop compares with chosen options. For options with a name it is Python's text of the pair, or a
// color if name or value is one.
std::string comparable_option(const GoalOption& option, bool has_name) {
  if (!has_name) return normalize_color(option.value);
  for (const std::string_view color : kColorWords)
    if (option.name == color || option.value == color) return std::string(color);
  return "(" + python_repr(option.name) + ", " + python_repr(option.value) + ")";
}

int count_options(const ChosenOptions& chosen, const Goal& goal) {
  return static_cast<int>(std::ranges::count_if(goal.options, [&](const GoalOption& requested) {
    const std::string text = comparable_option(requested, goal.has_option_names);
    return std::ranges::any_of(chosen, [&](const auto& option) {
      return token_set_ratio(normalize_color(option.second), text) > kMatchThreshold;
    });
  }));
}

}  // namespace

std::string normalize_color(std::string_view text) {
  for (const std::string_view color : kColorWords)
    if (text.find(color) != std::string_view::npos) return std::string(color);
  return std::string(text);
}

std::vector<std::string> title_nouns(const Product& product) {
  if (product.nouns) return *product.nouns;
  std::vector<std::string> nouns;
  std::u32string word;
  for (const char32_t c : to_utf32(python_lower(product.title) + " ")) {
    if (is_letter(c)) {
      word.push_back(c);
      continue;
    }
    std::string text = to_utf8(word);
    if (word.size() > 1 && !std::ranges::binary_search(kOtherWords, std::string_view(text)))
      nouns.push_back(std::move(text));
    word.clear();
  }
  return nouns;
}

PurchaseReward reward_purchase(const Product& purchased, double price, const ChosenOptions& chosen,
                               const Product& goal_product, const Goal& goal) {
  PurchaseReward reward;
  score_type(purchased, goal_product, reward);
  reward.attributes = count_attributes(purchased, goal);
  reward.requested_attributes = static_cast<int>(goal.attributes.size());
  reward.options = count_options(chosen, goal);
  reward.requested_options = static_cast<int>(goal.options.size());
  reward.price_matches = price <= goal.price_cap;
  reward.total = static_cast<double>(reward.attributes + reward.options + reward.price_matches) /
                 (reward.requested_attributes + reward.requested_options + 1) * reward.type;
  return reward;
}

}  // namespace starpo
