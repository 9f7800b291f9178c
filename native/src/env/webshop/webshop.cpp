#include "env/webshop/webshop.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "env/action_name.h"
#include "env/reference/python_random.h"
#include "env/webshop/action.h"
#include "env/webshop/claims.h"
#include "env/webshop/compact_text.h"
#include "env/webshop/demonstration.h"
#include "env/webshop/page_json.h"
#include "env/webshop/unicode_text.h"
#include "fields/field_visitor.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kTestGoals = 500, kValidationGoals = 1000;
constexpr std::uint64_t kPermutationSeed = 42;

// Advice that RAGEN adds to every observation, in our own words. Version 1 has eight lines, version 2 nine.
constexpr std::array<std::string_view, 9> kAdvice{
    "Buy a product before your actions run out. A close match is better than no purchase.",
    "Search for the kind of product and leave out size and color.",
    "Search at most twice.",
    "Do not insist on every detail of the instruction.",
    "Open a product of this page rather than the next page.",
    "Go to the next page at most twice.",
    "With fewer than three actions left, buy the first product you can.",
    "Choose a matching size and then a matching color, one per action, before you buy. Do not read descriptions.",
    "Go back a page only if the product was on an earlier page.",
};

std::string advice(WebShopConfig::Wrapper wrapper) {
  const std::size_t lines = wrapper == WebShopConfig::Wrapper::ragen_v1 ? 8 : 9;
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    if (i > 0) text += "\n";
    text += kAdvice[i];
  }
  return text;
}

Json goal_json(const Goal& goal, const Product& product) {
  Json options = goal.has_option_names ? Json::object() : Json::array();
  for (const GoalOption& option : goal.options) {
    if (goal.has_option_names)
      options[option.name] = option.value;
    else
      options.push_back(option.value);
  }
  return {{"asin", product.asin},
          {"category", product.category},
          {"query", product.query},
          {"name", product.title},
          {"product_category", product.product_category},
          {"instruction_text", goal.instruction},
          {"attributes", goal.attributes},
          {"price_upper", goal.price_cap},
          {"goal_options", options}};
}

Json reward_json(const PurchaseReward& reward) {
  const double parts = reward.requested_attributes + reward.requested_options + 1;
  Json info{{"r_type", reward.type},
            {"r_att", static_cast<double>(reward.attributes) / reward.requested_attributes},
            {"w_att", reward.requested_attributes / parts},
            {"query_match", reward.query_matches},
            {"category_match", reward.category_matches},
            {"title_score", reward.title_score}};
  if (reward.requested_options > 0) {
    info["r_option"] = static_cast<double>(reward.options) / reward.requested_options;
    info["w_option"] = reward.requested_options / parts;
  }
  info["r_price"] = reward.price_matches;
  info["w_price"] = 1 / parts;
  return info;
}

std::shared_ptr<const GoalList> open_goals(const WebShopConfig& config) {
  // Keeps the last catalogue, so that checks of a configuration don't build it again for each environment they make.
  static std::mutex mutex;
  static std::shared_ptr<const GoalList> last;
  auto goals =
      GoalList::open(Catalogue::open(config.catalogue, config.human_goals), config.human_goals, config.price_seed);
  const std::lock_guard lock(mutex);
  return last = std::move(goals);
}

}  // namespace

void describe(FieldVisitor& visitor, WebShopConfig& config) {
  visitor.text("catalogue", config.catalogue, {.min_length = 1, .names_files = true});
  visitor.choice("observation_mode", config.observation_mode, {"text", "text_rich"});
  visitor.boolean("human_goals", config.human_goals);
  visitor.boolean("show_attrs", config.show_attrs);
  visitor.integer("price_seed", config.price_seed, 0, (1LL << 53) - 1);
  visitor.choice("wrapper", config.wrapper, {"none", "ragen_v1", "ragen_v2", "compact"});
  visitor.choice("split", config.split, {"train", "val", "test", "auto"});
}

WebShop::WebShop(const WebShopConfig& config) : config_(config), shop_(open_goals(config), config.show_attrs) {
  const bool numbers_goals = config_.split != WebShopConfig::Split::automatic;
  if (config_.wrapper == WebShopConfig::Wrapper::none && numbers_goals) return;
  const std::size_t goals = shop_.goals().size();
  const std::uint64_t needed = config_.split == WebShopConfig::Split::test  ? kTestGoals
                               : config_.split == WebShopConfig::Split::val ? kTestGoals + kValidationGoals
                                                                            : kTestGoals + kValidationGoals + 1;
  if (goals < needed)
    throw Error("config_invalid",
                "the catalogue has " + std::to_string(goals) + " goals, but the split needs " + std::to_string(needed),
                config_.human_goals ? "use a larger catalogue, such as synthetic:5000:1, or set human_goals to false"
                                    : "use a larger catalogue, such as synthetic:1000:1");
  auto permutation = std::make_shared<std::vector<std::uint32_t>>(goals);
  std::iota(permutation->begin(), permutation->end(), 0);
  PythonRandom random(kPermutationSeed);
  for (auto i = static_cast<std::uint32_t>(goals - 1); i > 0; --i)
    std::swap((*permutation)[i], (*permutation)[random.below(i + 1)]);
  permutation_ = std::move(permutation);
}

std::unique_ptr<Environment> WebShop::clone() const { return std::make_unique<WebShop>(*this); }

std::uint64_t WebShop::goal_of(std::uint64_t seed) const {
  if (!permutation_) return seed;
  constexpr std::uint64_t held_out = kTestGoals + kValidationGoals;
  const bool validates = config_.split == WebShopConfig::Split::automatic && split() == Split::validation;
  switch (validates ? WebShopConfig::Split::val : config_.split) {
    case WebShopConfig::Split::test: return (*permutation_)[seed % kTestGoals];
    case WebShopConfig::Split::val: return (*permutation_)[seed % kValidationGoals + kTestGoals];
    default: return (*permutation_)[seed % (permutation_->size() - held_out) + held_out];
  }
}

void WebShop::reset(std::uint64_t seed, const NoiseStream*) {
  shop_.start(goal_of(seed));
  page_text_ = make_page_text();
  active_ = started_ = true;
  success_ = purchased_ = false;
  heading_only_ = imitates_ragen();
}

bool WebShop::imitates_ragen() const {
  return config_.wrapper == WebShopConfig::Wrapper::ragen_v1 || config_.wrapper == WebShopConfig::Wrapper::ragen_v2;
}

StepResult WebShop::step(std::string_view action) {
  if (!active_) throw no_episode_error();
  const bool wrapped = imitates_ragen();
  const bool valid_in_ragen = wrapped && is_valid_in_ragen(action);
  const bool compact = config_.wrapper == WebShopConfig::Wrapper::compact;
  const ShopStep step = shop_.step(compact ? full_action(shop_, action) : std::string(action));
  const std::string before = std::exchange(page_text_, make_page_text());
  heading_only_ = false;
  purchased_ = step.purchase.has_value();
  if (purchased_) purchase_ = *step.purchase;

  const bool binary = config_.wrapper == WebShopConfig::Wrapper::ragen_v2;
  double reward = purchased_ ? purchase_.total : 0;
  if (binary) reward = reward >= 1 ? 1 : 0;
  success_ = purchased_ && reward == 1;
  active_ = !(permutation_ && purchased_);
  StepResult result{.reward_is_integer = !step.executed && !binary,
                    .done = purchased_,
                    .effective = page_text_ != before,
                    .valid = wrapped ? valid_in_ragen : step.executed,
                    .success = success_};
  if (purchased_) result.add_reward("purchase", reward);
  result.flags.push_back({std::string(kStepFlags[0]), purchased_});
  result.flags.push_back({std::string(kStepFlags[1]), is_end_of_results()});
  return result;
}

// RAGEN's end_of_page: a page whose only listed actions are back to search and the previous page, such as results after
// the last product, or a sub page of a product.
bool WebShop::is_end_of_results() const {
  return listed_actions() == std::vector<std::string>{"click[back to search]", "click[< prev]"};
}

std::string WebShop::make_page_text() const {
  if (config_.wrapper == WebShopConfig::Wrapper::compact) return compact_text(shop_);
  return config_.observation_mode == WebShopConfig::ObservationMode::text ? shop_.text() : shop_.rich_text();
}

std::vector<std::string> WebShop::listed_actions() const {
  const AvailableActions available = shop_.available_actions();
  std::vector<std::string> listed;
  if (available.has_search_bar) listed.push_back("search[<content>]");
  for (const std::string& clickable : available.clickables)
    if (clickable != "search") listed.push_back("click[" + clickable + "]");
  // RAGEN hides the way to the next page where nothing else is left, but executes it.
  if (listed == std::vector<std::string>{"click[back to search]", "click[< prev]", "click[next >]"}) listed.pop_back();
  return listed;
}

// Version 1 compares the text with the list, version 2 the parsed action with the page. Both count a search as invalid
// on pages without a search bar, where it is executed.
bool WebShop::is_valid_in_ragen(std::string_view action) const {
  const AvailableActions available = shop_.available_actions();
  if (config_.wrapper == WebShopConfig::Wrapper::ragen_v1) {
    const auto listed = listed_actions();
    return std::ranges::find(listed, action) != listed.end() ||
           (available.has_search_bar && action.starts_with("search[") && action.ends_with("]"));
  }
  const auto parsed = parse_shop_action(action);
  if (!parsed) return false;
  if (parsed->name == "search") return available.has_search_bar;
  return parsed->name == "click" && parsed->argument != "search" &&
         std::ranges::find(available.clickables, parsed->argument) != available.clickables.end();
}

std::string WebShop::observation() const {
  if (!started_) return "";
  if (!imitates_ragen()) return page_text_;
  const std::string page = heading_only_ ? "Instruction: " + shop_.goal().instruction : page_text_;
  return page + "." + advice(config_.wrapper) + "\nAvailable actions: " + join(listed_actions(), ", ") + ".";
}

std::string WebShop::info_json(bool at_start) const {
  Json info = Json::object();
  if (imitates_ragen()) {
    info["available_actions"] = listed_actions();
  } else {
    const AvailableActions available = shop_.available_actions();
    info["available_actions"] = {{"has_search_bar", available.has_search_bar}, {"clickables", available.clickables}};
  }
  if (at_start) {
    const Catalogue& catalogue = shop_.goals().catalogue();
    info["goal"] = goal_json(shop_.goal(), catalogue.product(shop_.goal().product));
    info["title_nouns"] = catalogue.products_with_nouns() == 0                  ? "heuristic"
                          : catalogue.products_with_nouns() == catalogue.size() ? "nouns.tsv"
                                                                                : "nouns.tsv and heuristic";
  } else if (imitates_ragen()) {
    info["success_purchase"] = purchased_;
    info["end_of_page"] = is_end_of_results();
    if (config_.wrapper == WebShopConfig::Wrapper::ragen_v2) info["raw_reward"] = purchased_ ? purchase_.total : 0.0;
  }
  if (purchased_) info["reward_info"] = reward_json(purchase_);
  return info.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::pair<std::string, std::string>> WebShop::idle_keys() const {
  std::vector<std::pair<std::string, std::string>> idle;
  if (!permutation_)
    idle.emplace_back("split", "wrapper is none and split is not auto, so the seed of a task is the index of its goal");
  if (config_.wrapper == WebShopConfig::Wrapper::compact)
    idle.emplace_back("observation_mode", "wrapper is compact, which has its own observation");
  return idle;
}

std::string WebShop::files_digest() const {
  return Catalogue::is_folder(config_.catalogue) ? shop_.goals().catalogue().digest() : "";
}

std::optional<std::string> WebShop::board() const {
  if (!started_) return std::nullopt;
  return shop_page_json(shop_);
}

std::optional<Demonstration> WebShop::demonstrate(const DemonstrationRequest& request) const {
  Demonstration demonstration = demonstrate_shopping(shop_, request);
  if (config_.wrapper != WebShopConfig::Wrapper::compact)  // only this one accepts numbers of products
    for (std::string& action : demonstration.actions) action = full_action(shop_, action);
  return demonstration;
}

std::optional<std::vector<Claim>> WebShop::check_claims(std::string_view reasoning,
                                                        std::span<const std::string> actions) const {
  const bool is_compact = config_.wrapper == WebShopConfig::Wrapper::compact;
  if (!is_compact) return check_shop_claims(reasoning, actions, shop_, shop_.products_of_page());
  std::vector<std::string> full_actions;
  for (const std::string& action : actions) full_actions.push_back(full_action(shop_, action));
  return check_shop_claims(reasoning, full_actions, shop_, compact_products(shop_));
}

}  // namespace starpo
