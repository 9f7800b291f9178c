#include "env/webshop/goals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include "base/error.h"
#include "env/reference/python_random.h"
#include "env/webshop/unicode_text.h"

namespace starpo {
namespace {

constexpr std::uint64_t kGoalShuffleSeed = 233;
constexpr int kMaxPriceCap = 990;  // dollars
constexpr std::uint64_t kMaxGoals = 0xFFFFFFFF;

// Returns the larger of two different multiples of ten drawn from the first four above the price, or 0 if fewer than
// two are left. It draws like random.sample.
std::uint32_t draw_price_cap(double price, PythonRandom& random) {
  std::vector<std::uint32_t> caps;
  for (int cap = 10; cap <= kMaxPriceCap && caps.size() < 4; cap += 10)
    if (cap > price) caps.push_back(static_cast<std::uint32_t>(cap));
  if (caps.size() < 2) return 0;
  const auto count = static_cast<std::uint32_t>(caps.size());
  const std::uint32_t place = random.below(count);
  const std::uint32_t first = caps[place];
  caps[place] = caps.back();
  return std::max(first, caps[random.below(count - 1)]);
}

std::vector<ProductOption> sorted_options(const Product& product) {
  std::vector<ProductOption> options = product.options;
  std::ranges::sort(options, {}, &ProductOption::name);
  return options;
}

std::string price_text(std::uint32_t cap) {
  return cap == 0 ? "" : ", and price lower than " + std::to_string(cap) + ".00 dollars";
}

std::string strip_dots(std::string_view text) {
  while (text.starts_with('.')) text.remove_prefix(1);
  while (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

std::shared_ptr<const GoalList> GoalList::open(std::shared_ptr<const Catalogue> catalogue, bool human_goals,
                                               std::uint64_t price_seed) {
  static std::mutex mutex;
  static std::map<std::tuple<const Catalogue*, bool, std::uint64_t>, std::weak_ptr<const GoalList>> opened;
  const std::lock_guard lock(mutex);
  auto& cached = opened[{catalogue.get(), human_goals, price_seed}];
  if (auto goals = cached.lock()) return goals;  // it keeps its catalogue, so the address is not used again
  auto goals = std::make_shared<const GoalList>(std::move(catalogue), human_goals, price_seed);
  cached = goals;
  return goals;
}

GoalList::GoalList(std::shared_ptr<const Catalogue> catalogue, bool human_goals, std::uint64_t price_seed)
    : catalogue_(std::move(catalogue)), human_goals_(human_goals) {
  PythonRandom random(price_seed);
  for (std::size_t i = 0; i < catalogue_->size(); ++i) {
    const std::vector<double> range = catalogue_->product(i).prices;
    prices_.push_back(range.size() == 1 ? range[0] : range[0] + (range[1] - range[0]) * random.random());
  }
  for (std::uint32_t i = 0; i < catalogue_->size(); ++i) {
    const Product product = catalogue_->product(i);
    if (human_goals) {
      for (std::uint32_t variant = 0; variant < product.human_instructions.size(); ++variant)
        if (!product.human_instructions[variant].attributes.empty())
          goals_.push_back({i, variant, draw_price_cap(prices_[i], random)});
    } else if (product.instruction) {
      const std::uint32_t cap = draw_price_cap(prices_[i], random);
      std::uint64_t combinations = 1;
      for (const ProductOption& option : product.options) {
        combinations *= option.values.size();
        if (combinations + goals_.size() > kMaxGoals)
          throw Error("catalogue_invalid", "product " + product.asin + " has too many combinations of options",
                      "remove option values from customization_options");
      }
      for (std::uint32_t variant = 0; variant < combinations; ++variant) goals_.push_back({i, variant, cap});
    }
  }
  if (goals_.empty())
    throw Error("catalogue_invalid", "no product of the catalogue has an instruction, so there are no goals",
                human_goals ? "use an items_human_ins.json for these products, or human_goals false"
                            : "use an items_ins_v2.json with instructions for these products, or human_goals true");
  PythonRandom order(kGoalShuffleSeed);
  for (auto i = static_cast<std::uint32_t>(goals_.size() - 1); i > 0; --i)
    std::swap(goals_[i], goals_[order.below(i + 1)]);
}

Goal GoalList::goal(std::size_t index) const {
  const Entry& entry = goals_.at(index);
  const Product product = catalogue_->product(entry.product);
  Goal goal{entry.product, "", {}, {}, !human_goals_, entry.cap == 0 ? kNoPriceCap : entry.cap};
  if (human_goals_) {
    const HumanInstruction& human = product.human_instructions.at(entry.variant);
    goal.instruction = strip_dots(human.text) + price_text(entry.cap);
    goal.attributes = human.attributes;
    for (const std::string& value : human.options) goal.options.push_back({"", value});
    return goal;
  }
  // The combination's number has the first option as its most significant digit.
  const std::vector<ProductOption> options = sorted_options(product);
  std::uint64_t rest = entry.variant;
  for (auto option = options.rbegin(); option != options.rend(); ++option) {
    goal.options.insert(goal.options.begin(), {option->name, option->values[rest % option->values.size()]});
    rest /= option->values.size();
  }
  std::vector<std::string> texts;
  for (const GoalOption& option : goal.options) texts.push_back(option.name + ": " + option.value);
  goal.instruction =
      product.instruction.value() + (texts.empty() ? "" : " with " + join(texts, ", and ")) + price_text(entry.cap);
  goal.attributes = product.instruction_attributes;
  return goal;
}

}  // namespace starpo
