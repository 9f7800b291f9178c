#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/webshop/goals.h"
#include "env/webshop/purchase_reward.h"

namespace starpo {

enum class ShopPage { index, results, item, description, features, reviews, attributes, done };

// A place of a page that can be clicked.
struct Clickable {
  enum class Kind { button, product, option } kind;
  std::string text;          // in lower case
  std::uint32_t number = 0;  // product: in the catalogue; option: group of the product
};

// What a customer can do on a page.
struct AvailableActions {
  bool has_search_bar = false;
  std::vector<std::string> clickables;
};

// The result of an action.
struct ShopStep {
  bool executed = false;  // the action is available
  std::optional<PurchaseReward> purchase = std::nullopt;
};

// WebShop's session: a customer with a goal moves between pages. It has no end, so that a search works even after a
// purchase.
class Shop {
 public:
  Shop(std::shared_ptr<const GoalList>, bool show_attributes);

  // Starts a session for a goal. Errors: level_not_found.
  void start(std::uint64_t goal);

  ShopStep step(std::string_view action);

  AvailableActions available_actions() const;
  ShopPage page() const { return page_; }
  const Goal& goal() const { return goal_; }
  const std::string& keywords() const { return keywords_; }  // of the search
  int results_page() const { return results_page_; }         // from 1
  std::size_t results() const { return found_.size(); }      // on all pages
  std::vector<std::uint32_t> products_of_page() const;       // numbers in the catalogue
  bool visited(std::uint32_t product) const { return visited_.contains(product); }
  const Product& product() const { return product_.value(); }      // of item and sub pages and a purchase
  double price() const { return goals_->price(product_number_); }  // of that product
  const ChosenOptions& chosen() const { return chosen_; }
  const std::optional<PurchaseReward>& purchase() const { return purchase_; }  // the last one of the session

  // The visible texts of the page, joined by " [SEP] ".
  std::string text() const;
  // A line per visible text, with buttons marked.
  std::string rich_text() const;

  const GoalList& goals() const { return *goals_; }

 private:
  // A visible text and how it is shown.
  struct Node {
    enum class Kind { text, button, product, option } kind;
    std::string text;
  };

  std::vector<Node> make_nodes() const;
  std::vector<Clickable> make_clickables() const;
  void draw_page();

  void search(std::string_view keywords);
  ShopStep click(const Clickable&);
  void open_results();
  void open_index();
  std::string address() const;

  std::shared_ptr<const GoalList> goals_;
  bool show_attributes_;
  std::uint64_t goal_number_ = 0;
  Goal goal_{};
  ShopPage page_ = ShopPage::index;
  std::string keywords_;
  std::vector<std::uint32_t> found_;  // products of the search
  int results_page_ = 1;
  std::uint32_t product_number_ = 0;
  std::optional<Product> product_;  // of item pages
  std::set<std::uint32_t> visited_;
  ChosenOptions chosen_;
  std::optional<PurchaseReward> purchase_;
  std::vector<Node> nodes_;            // of the page
  std::vector<Clickable> clickables_;  // of the page
};

}  // namespace starpo
