#include "env/webshop/claims.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "env/action_name.h"
#include "env/claims/reasoning.h"
#include "env/reference/python_number.h"
#include "env/webshop/action.h"

namespace starpo {
namespace {

// What reasoning states about an option.
enum class Relation { none, requested, offered, chosen };

struct ShopProduct {
  std::string asin;
  double price;
  std::vector<double> shown_prices;  // of the price tag
};

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string dollars(double amount) { return "$" + format_python_number(std::round(amount * 100) / 100, false); }

Relation relation_of(const ReasoningToken& token) {
  if (token.is_any({"need", "needs", "needed", "want", "wants", "wanted", "ask", "asks", "require", "requires",
                    "required", "requested"}))
    return Relation::requested;
  if (token.is_any({"has", "have", "offers", "offered", "available", "options"})) return Relation::offered;
  if (token.is_any({"chosen", "selected"})) return Relation::chosen;
  return Relation::none;
}

class ShopReader {
 public:
  ShopReader(std::string_view reasoning, std::span<const std::string> actions, const Shop& shop,
             std::span<const std::uint32_t> products)
      : reasoning_(reasoning), shop_(shop) {
    if (!actions.empty()) action_ = parse_shop_action(actions.front());
    on_product_ = shop.page() != ShopPage::index && shop.page() != ShopPage::results && shop.page() != ShopPage::done;
    if (on_product_)
      products_.push_back({shop.product().asin, shop.price(), shop.product().prices});
    else if (shop.page() == ShopPage::results)
      for (const std::uint32_t number : products) {
        const Product product = shop.goals().catalogue().product(number);
        products_.push_back({product.asin, shop.goals().price(number), product.prices});
      }
    for (const GoalOption& option : shop.goal().options) values_.push_back(option.value);
    for (const std::string& attribute : shop.goal().attributes) values_.push_back(attribute);
    if (on_product_)
      for (const ProductOption& option : shop.product().options)
        for (const std::string& value : option.values) values_.push_back(value);
    // "navy blue" before "navy"
    std::ranges::stable_sort(values_, std::greater{}, &std::string::size);
  }

  std::vector<Claim> check() {
    for (Sentence& sentence : sentences_of(reasoning_)) {
      if (!sentence.is_claim) continue;
      tokens_ = sentence.tokens;
      read_products();
      read_values();
      read_prices();
      read_plan();
    }
    if (plan_) claims_.push_back(std::move(*plan_));
    std::ranges::stable_sort(claims_, {}, &Claim::start);
    return std::move(claims_);
  }

 private:
  // Returns the index after a text that begins at a token and ends with a word.
  std::optional<std::size_t> end_of(std::size_t at, std::string_view text) const {
    const std::size_t start = tokens_[at].start, end = start + text.size();
    if (text.empty() || !equal_ignoring_case(reasoning_.substr(start, text.size()), text)) return std::nullopt;
    if (end < reasoning_.size() && is_alphanumeric(reasoning_[end])) return std::nullopt;
    while (at < tokens_.size() && tokens_[at].start < end) ++at;
    return at;
  }

  bool any_before(std::size_t at, std::size_t most, std::initializer_list<std::string_view> words) const {
    for (std::size_t i = at; i-- > 0 && at - i <= most;)
      if (tokens_[i].is_any(words)) return true;
    return false;
  }

  // Products that the page does not have are invented.
  void read_products() {
    if (products_.empty()) return;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      std::size_t size = 0;
      while (tokens_[at].start + size < reasoning_.size() && is_alphanumeric(reasoning_[tokens_[at].start + size]))
        ++size;
      const std::string_view word = reasoning_.substr(tokens_[at].start, size);
      const bool is_asin = size == 10 && (word.starts_with("B0") || word.starts_with("b0"));
      const bool is_word_start = tokens_[at].start == 0 || !is_alphanumeric(reasoning_[tokens_[at].start - 1]);
      if (!is_asin || !is_word_start) continue;
      const std::size_t end = *end_of(at, word);
      add(at, end, product_named(word) != nullptr, "The page has no product " + std::string(word) + ".");
      for (; at + 1 < end; ++at) tokens_[at].is_used = true;
      tokens_[at].is_used = true;
    }
  }

  const ShopProduct* product_named(std::string_view asin) const {
    const auto found = std::ranges::find_if(
        products_, [&](const ShopProduct& product) { return equal_ignoring_case(product.asin, asin); });
    return found == products_.end() ? nullptr : &*found;
  }

  // "need red, small", "it has navy", "x-large is not available", "red is chosen"
  void read_values() {
    Relation relation = Relation::none;
    bool is_negated = false;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      const auto value =
          std::ranges::find_if(values_, [&](const std::string& each) { return end_of(at, each).has_value(); });
      if (value != values_.end() && !tokens_[at].is_used) {
        const std::size_t end = *end_of(at, *value);
        auto [own, negated] = relation_after(end);
        if (own == Relation::none) own = relation, negated = is_negated;
        check_value(at, end, *value, own, negated);
        at = end - 1;
        continue;
      }
      const ReasoningToken& token = tokens_[at];
      if (const Relation found = relation_of(token); found != Relation::none) {
        relation = found;
        is_negated = any_before(at, 2, {"not", "no", "never"});
      } else if (token.is_any({"not", "no", "without"})) {
        is_negated = true;
      } else if (token.is_any({"but", "so", "then", "click", "choose", "select", "pick", "search", "buy", "open"})) {
        relation = Relation::none;
        is_negated = false;
      }
    }
  }

  // Reads "is not available" after a value.
  std::pair<Relation, bool> relation_after(std::size_t at) const {
    bool is_negated = false;
    for (; at < tokens_.size(); ++at) {
      if (tokens_[at].is("not")) is_negated = true;
      if (const Relation found = relation_of(tokens_[at]); found != Relation::none) return {found, is_negated};
      if (!tokens_[at].is_any({"is", "are", "not", "also", "already"})) break;
    }
    return {Relation::none, false};
  }

  void check_value(std::size_t first, std::size_t end, const std::string& value, Relation relation, bool is_negated) {
    const auto is_value = [&](const std::string& other) { return equal_ignoring_case(value, other); };
    const auto state = [&](bool is_so, const std::string& positive, const std::string& negative) {
      add(first, end, is_so != is_negated, is_so ? positive : negative);
    };
    if (relation == Relation::requested) {
      const Goal& goal = shop_.goal();
      state(std::ranges::any_of(goal.options, is_value, &GoalOption::value) ||
                std::ranges::any_of(goal.attributes, is_value),
            "The instruction asks for " + value + ".", "The instruction does not ask for " + value + ".");
    } else if (relation == Relation::offered && on_product_) {
      const auto has_value = [&](const ProductOption& option) { return std::ranges::any_of(option.values, is_value); };
      const Product& product = shop_.product();
      state(std::ranges::any_of(product.options, has_value) || std::ranges::any_of(product.attributes, is_value),
            "\"" + value + "\" is an option or attribute of the product.",
            "\"" + value + "\" is not an option or attribute of the product.");
    } else if (relation == Relation::chosen && on_product_) {
      state(std::ranges::any_of(shop_.chosen(), is_value, [](const auto& option) { return option.second; }),
            value + " is chosen.", value + " is not chosen.");
    }
  }

  // "costs $12.5", "the price is below 30 dollars", "the price is low", "too expensive"
  void read_prices() {
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      const ReasoningToken& token = tokens_[at];
      if (token.is_used) continue;
      const bool is_money = token.kind == ReasoningToken::Kind::number &&
                            (any_before(at, 1, {"$"}) || any_before(at, 3, {"price", "costs", "cost", "priced"}) ||
                             (any_before(at, 1, {"under", "below", "over", "above"}) && any_before(at, 9, {"price"})) ||
                             (at + 1 < tokens_.size() && tokens_[at + 1].is_any({"dollars", "dollar", "usd"})));
      if (is_money) {
        check_amount(at);
      } else if (token.is_any({"affordable", "cheap"}) ||
                 (token.is("low") && any_before(at, 4, {"price", "cost", "costs"})) ||
                 (token.is("budget") && any_before(at, 3, {"within", "fits", "under", "below"}))) {
        check_affordable(at, true);
      } else if (token.is("expensive") || (token.is("high") && any_before(at, 4, {"price", "cost", "costs"})) ||
                 (token.is("budget") && any_before(at, 3, {"over", "above", "exceeds"}))) {
        check_affordable(at, false);
      }
    }
  }

  void check_amount(std::size_t at) {
    const double amount = tokens_[at].number;
    const auto subjects = subjects_before(at);
    const double cap = shop_.goal().price_cap;
    const bool has_cap = cap < kNoPriceCap && subjects.size() == products_.size();
    const bool is_negated = any_before(at, 5, {"not"});
    const auto state = [&](bool is_so) { add(at, at + 1, is_so != is_negated, price_fact(subjects)); };
    if (any_before(at, 5,
                   {"under", "below", "less", "lower", "cheaper", "within", "most", "budget", "limit", "maximum"})) {
      if (has_cap && std::abs(cap - amount) < 0.005) return state(true);
      if (!subjects.empty())
        state(std::ranges::any_of(subjects, [&](const ShopProduct& each) { return each.price <= amount; }));
      else if (has_cap)
        add(at, at + 1, is_negated, "The price must be below " + dollars(cap) + ".");
    } else if (any_before(at, 5, {"over", "above", "more", "higher", "exceeds"})) {
      if (!subjects.empty())
        state(std::ranges::any_of(subjects, [&](const ShopProduct& each) { return each.price > amount; }));
    } else if (!subjects.empty()) {
      state(std::ranges::any_of(subjects, [&](const ShopProduct& each) {
        const auto is_amount = [&](double price) {
          const bool is_rounded = amount == std::floor(amount) && std::abs(price - amount) < 1;
          return is_rounded || std::abs(price - amount) < 0.005;
        };
        return is_amount(each.price) || std::ranges::any_of(each.shown_prices, is_amount);
      }));
    }
  }

  void check_affordable(std::size_t at, bool claims_low) {
    const double cap = shop_.goal().price_cap;
    auto subjects = subjects_before(at);
    // "The price is low" is about the product that the action opens.
    if (action_ && subjects.size() > 1)
      if (const ShopProduct* opened = product_named(action_->argument)) subjects = {*opened};
    if (subjects.empty() || cap >= kNoPriceCap) return;
    const bool is_low = std::ranges::any_of(subjects, [&](const ShopProduct& each) { return each.price <= cap; });
    const bool is_negated = any_before(at, 3, {"not"});
    add(at, at + 1, (is_low == claims_low) != is_negated,
        price_fact(subjects) + " The price must be at most " + dollars(cap) + ".");
  }

  // Returns the product that is named before a token, or all of the page.
  std::vector<ShopProduct> subjects_before(std::size_t at) const {
    for (std::size_t i = at; i-- > 0 && at - i <= 9;)
      if (tokens_[i].is_used && (i == 0 || !tokens_[i - 1].is_used))
        if (const ShopProduct* named = product_named(reasoning_.substr(tokens_[i].start, 10))) return {*named};
    return products_;
  }

  std::string price_fact(const std::vector<ShopProduct>& subjects) const {
    std::string fact;
    for (const ShopProduct& each : subjects)
      if (fact.size() < 200) fact += (fact.empty() ? "" : " ") + each.asin + " costs " + dollars(each.price) + ".";
    return fact;
  }

  // The last plan counts: "I search for mugs", "so I click navy", "buy it", "go back", "next page".
  void read_plan() {
    if (!action_) return;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (any_before(at, 2, {"not"})) continue;
      const auto next_is = [&](std::initializer_list<std::string_view> words) {
        return at + 1 < tokens_.size() && tokens_[at + 1].is_any(words);
      };
      const std::string& argument = action_->argument;
      const bool clicks = action_->name == "click";
      if (tokens_[at].is("search") && !any_before(at, 2, {"back", "the"})) {
        plan(at, at + 1, action_->name == "search");
      } else if (tokens_[at].is_any({"buy", "purchase"}) && (next_is({"it", "now", "this"}))) {
        plan(at, at + 2, clicks && argument == "buy now");
      } else if (tokens_[at].is("go") && next_is({"back"})) {
        plan(at, at + 2, clicks && (argument == "back to search" || argument == "< prev"));
      } else if (tokens_[at].is("next") && next_is({"page"})) {
        plan(at, at + 2, clicks && argument == "next >");
      } else if (tokens_[at].is_any({"click", "open", "choose", "select", "pick", "try"})) {
        plan_click(at, clicks ? argument : "");
      }
    }
  }

  void plan_click(std::size_t at, const std::string& clicked) {
    std::size_t target = at + 1;
    while (target < tokens_.size() && tokens_[target].is_any({"on", "the", "option", "product", ":", "[", "\"", "'"}))
      ++target;
    if (target >= tokens_.size()) return;
    std::vector<std::string> texts = shop_.available_actions().clickables;
    std::ranges::stable_sort(texts, std::greater{}, &std::string::size);
    for (const std::string& text : texts)
      if (const auto end = end_of(target, text)) return plan(at, *end, equal_ignoring_case(clicked, text));
  }

  void plan(std::size_t first, std::size_t end, bool holds) {
    plan_ = {tokens_[first].start, tokens_[end - 1].end, ClaimKind::faithfulness, holds,
             holds ? "" : "The action is " + std::string(action_->name) + "[" + action_->argument + "]."};
  }

  void add(std::size_t first, std::size_t end, bool holds, const std::string& fact) {
    add_once(claims_, reasoning_,
             {tokens_[first].start, tokens_[end - 1].end, ClaimKind::grounding, holds, holds ? "" : fact});
  }

  std::string_view reasoning_;
  const Shop& shop_;
  std::optional<ShopAction> action_;
  bool on_product_ = false;
  std::vector<ShopProduct> products_;  // of the page
  std::vector<std::string> values_;    // options and attributes of the goal and the page
  std::span<ReasoningToken> tokens_;
  std::optional<Claim> plan_;
  std::vector<Claim> claims_;
};

}  // namespace

std::vector<Claim> check_shop_claims(std::string_view reasoning, std::span<const std::string> actions, const Shop& shop,
                                     std::span<const std::uint32_t> products) {
  return ShopReader(reasoning, actions, shop, products).check();
}

}  // namespace starpo
