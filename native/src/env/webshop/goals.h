#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "env/webshop/catalogue.h"

namespace starpo {

struct GoalOption {
  std::string name;  // empty for human goals, which have only values
  std::string value;
};

// What a customer asks for.
struct Goal {
  std::uint32_t product;
  std::string instruction;  // with options and price
  std::vector<std::string> attributes;
  std::vector<GoalOption> options;
  bool has_option_names;  // a synthetic goal
  double price_cap;
};

constexpr double kNoPriceCap = 1'000'000;

// All goals of a catalogue in WebShop's order, and the prices of its products. Immutable.
class GoalList {
 public:
  // Returns the same object for the same arguments while it is in use. price_seed: Python's random.seed before prices
  // and caps are drawn. Errors: index_invalid, catalogue_invalid (no product has a goal, or one has too many
  // combinations of options).
  static std::shared_ptr<const GoalList> open(std::shared_ptr<const Catalogue>, bool human_goals,
                                              std::uint64_t price_seed);

  GoalList(std::shared_ptr<const Catalogue>, bool human_goals, std::uint64_t price_seed);

  std::size_t size() const { return goals_.size(); }
  Goal goal(std::size_t index) const;
  double price(std::size_t product) const { return prices_.at(product); }  // what a purchase costs
  const Catalogue& catalogue() const { return *catalogue_; }

 private:
  struct Entry {
    std::uint32_t product;
    std::uint32_t variant;  // number of the human instruction, or of the combination of options
    std::uint32_t cap;      // dollars; 0: none
  };

  std::shared_ptr<const Catalogue> catalogue_;
  bool human_goals_;
  std::vector<double> prices_;
  std::vector<Entry> goals_;
};

}  // namespace starpo
