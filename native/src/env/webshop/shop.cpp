#include "env/webshop/shop.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "env/reference/python_number.h"
#include "env/reference/python_random.h"
#include "env/webshop/action.h"
#include "env/webshop/unicode_text.h"

namespace starpo {
namespace {

constexpr std::size_t kProductsPerPage = 10;
constexpr std::uint32_t kRandomProducts = 50;

constexpr std::string_view kBackToSearch = "Back to Search";
constexpr std::string_view kPreviousPage = "< Prev";
constexpr std::string_view kNextPage = "Next >";
constexpr std::string_view kBuyNow = "Buy Now";

struct SubPage {
  std::string_view name;
  ShopPage page;
};
constexpr std::array kSubPages{SubPage{"Description", ShopPage::description}, SubPage{"Features", ShopPage::features},
                               SubPage{"Reviews", ShopPage::reviews}, SubPage{"Attributes", ShopPage::attributes}};

const SubPage* find_sub_page(std::string_view lower_name) {
  for (const SubPage& page : kSubPages)
    if (python_lower(page.name) == lower_name) return &page;
  return nullptr;
}

// Formats a string like Python's json.dumps.
std::string python_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string options_json(const ChosenOptions& options) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : options) parts.push_back(python_json(name) + ": " + python_json(value));
  return "{" + join(parts, ", ") + "}";
}

// Returns a text as BeautifulSoup reads it: white space is reduced to one newline or space.
std::string html_text(const std::string& text) {
  if (text.find_first_not_of(" \n\t\f\r") != std::string::npos) return text;
  return text.empty() ? "" : text.find('\n') == std::string::npos ? " " : "\n";
}

}  // namespace

Shop::Shop(std::shared_ptr<const GoalList> goals, bool show_attributes)
    : goals_(std::move(goals)), show_attributes_(show_attributes) {
  draw_page();
}

void Shop::start(std::uint64_t goal) {
  if (goal >= goals_->size())
    throw Error(
        "level_not_found", "goal " + std::to_string(goal) + " does not exist",
        "use level seeds from 0 to " + std::to_string(goals_->size() - 1) +
            " (levels.train_seed, levels.pool, levels.validation_seed), or set the environment's split to auto");
  goal_number_ = goal;
  goal_ = goals_->goal(goal);
  purchase_.reset();
  open_index();
  draw_page();
}

void Shop::draw_page() {
  nodes_ = make_nodes();
  clickables_ = make_clickables();
}

void Shop::open_index() {
  page_ = ShopPage::index;
  keywords_.clear();
  found_.clear();
  results_page_ = 1;
  product_.reset();
  visited_.clear();
  chosen_.clear();
}

void Shop::open_results() {
  page_ = ShopPage::results;
  product_.reset();
  chosen_.clear();
}

void Shop::search(std::string_view keywords) {
  keywords_ = keywords;
  results_page_ = 1;
  if (split(keywords, " ")[0] == "<r>") {
    // Random products. WebShop draws them from a generator whose state depends on all earlier sessions.
    PythonRandom random(goal_number_);
    found_.resize(goals_->catalogue().size());
    std::iota(found_.begin(), found_.end(), 0);
    const auto size = static_cast<std::uint32_t>(found_.size());
    const std::uint32_t count = std::min(size, kRandomProducts);
    for (std::uint32_t i = 0; i < count; ++i) std::swap(found_[i], found_[i + random.below(size - i)]);
    found_.resize(count);
  } else {
    found_ = goals_->catalogue().search(keywords);
  }
  open_results();
}

std::vector<std::uint32_t> Shop::products_of_page() const {
  const std::size_t begin = std::min(found_.size(), (static_cast<std::size_t>(results_page_) - 1) * kProductsPerPage);
  const std::size_t end = std::min(found_.size(), begin + kProductsPerPage);
  return {found_.begin() + static_cast<std::ptrdiff_t>(begin), found_.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::vector<Clickable> Shop::make_clickables() const {
  std::vector<Clickable> result;
  // Texts are unique: a later element takes the place of an earlier one with its text.
  const auto add = [&](Clickable clickable) {
    const auto same = std::ranges::find(result, clickable.text, &Clickable::text);
    if (same == result.end())
      result.push_back(std::move(clickable));
    else
      *same = std::move(clickable);
  };
  // Buttons come before product links, and these before options.
  std::size_t product = 0;
  const auto products = page_ == ShopPage::results ? products_of_page() : std::vector<std::uint32_t>();
  for (const Node& node : nodes_)
    if (node.kind == Node::Kind::button) add({Clickable::Kind::button, python_lower(node.text)});
  for (const Node& node : nodes_)
    if (node.kind == Node::Kind::product)
      add({Clickable::Kind::product, python_lower(node.text), products.at(product++)});
  if (page_ == ShopPage::item)
    for (std::uint32_t group = 0; group < product_->options.size(); ++group)
      for (const std::string& value : product_->options[group].values) add({Clickable::Kind::option, value, group});
  return result;
}

AvailableActions Shop::available_actions() const {
  AvailableActions actions{.has_search_bar = page_ == ShopPage::index, .clickables = {}};
  for (const Clickable& clickable : clickables_) actions.clickables.push_back(clickable.text);
  return actions;
}

ShopStep Shop::step(std::string_view text) {
  const auto action = parse_shop_action(text);
  if (!action) return {};
  if (action->name == "search") {
    search(action->argument);
    draw_page();
    return {.executed = true};
  }
  if (action->name != "click" || action->argument == "search") return {};
  const auto clickable = std::ranges::find(clickables_, action->argument, &Clickable::text);
  if (clickable == clickables_.end()) return {};
  const ShopStep step = click(*clickable);
  draw_page();
  return step;
}

ShopStep Shop::click(const Clickable& clickable) {
  const std::string& text = clickable.text;
  const auto is = [&](std::string_view label) { return text == python_lower(label); };
  // Labels of buttons are tested first, so that an option with such a text acts as the button.
  if (is(kBuyNow)) {
    purchase_ = reward_purchase(*product_, goals_->price(product_number_), chosen_,
                                goals_->catalogue().product(goal_.product), goal_);
    page_ = ShopPage::done;
    return {.executed = true, .purchase = purchase_};
  }
  if (is(kBackToSearch)) {
    open_index();
  } else if (is(kNextPage) && page_ == ShopPage::results) {
    ++results_page_;
    open_results();
  } else if (is(kPreviousPage)) {
    if (page_ == ShopPage::results) --results_page_;
    if (page_ == ShopPage::results || page_ == ShopPage::item)
      open_results();
    else
      page_ = ShopPage::item;
  } else if (const SubPage* sub_page = find_sub_page(text)) {
    page_ = sub_page->page;
  } else if (clickable.kind == Clickable::Kind::product) {
    product_number_ = clickable.number;
    product_ = goals_->catalogue().product(product_number_);
    visited_.insert(product_number_);
    page_ = ShopPage::item;
  } else {
    const std::string& name = product_->options.at(clickable.number).name;
    const auto same = std::ranges::find(chosen_, name, &ChosenOptions::value_type::first);
    if (same == chosen_.end())
      chosen_.emplace_back(name, text);
    else
      same->second = text;
  }
  return {.executed = true};
}

std::vector<Shop::Node> Shop::make_nodes() const {
  std::vector<Node> nodes;
  const auto add = [&](Node::Kind kind, std::string text) {
    if (text = html_text(text); !text.empty() && text != "\n") nodes.push_back({kind, std::move(text)});
  };
  const auto add_text = [&](const std::string& text) { add(Node::Kind::text, text); };
  const auto add_button = [&](std::string_view text) { add(Node::Kind::button, std::string(text)); };
  const auto add_texts = [&](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) add_text(" " + text);
  };

  if (page_ == ShopPage::done) {
    ChosenOptions sorted = chosen_;
    std::ranges::sort(sorted);
    for (const char* text : {"Thank you for shopping with us!", "Your code: ", "None",
                             " (Paste it in your MTurk interface.)", "Purchased", "asin"})
      add_text(text);
    add_text(product_->asin);
    add_text("options");
    add_text(options_json(sorted));
    for (const char* text : {"attrs",
                             "None",
                             "category",
                             "None",
                             "query",
                             "None",
                             "product category",
                             "None",
                             "Target",
                             "asin",
                             "options",
                             "attrs",
                             "price upper",
                             "instuction text",
                             "category",
                             "product category",
                             "query",
                             "Goal ",
                             "None",
                             "Reward",
                             "Your score (min 0.0, max 1.0)"})
      add_text(text);
    add_text(format_python_number(purchase_->total, false));
    add_text("Reward Details ");
    add_text("None");
    return nodes;
  }

  if (page_ == ShopPage::index) {
    add_text("WebShop");
    add_text("Instruction: ");
    add_text(goal_.instruction);
    add_button("Search");
    return nodes;
  }

  add_text("Instruction:");
  add_text(goal_.instruction);
  add_button(kBackToSearch);
  if (page_ == ShopPage::results) {
    add_text("Page " + std::to_string(results_page_) + " (Total results: " + std::to_string(found_.size()) + ")");
    if (results_page_ > 1) add_button(kPreviousPage);
    add_button(kNextPage);
    for (const std::uint32_t number : products_of_page()) {
      const Product product = goals_->catalogue().product(number);
      add(Node::Kind::product, product.asin);
      add_text(product.title);
      add_text(product.price_tag());
    }
    return nodes;
  }

  add_button(kPreviousPage);
  switch (page_) {
    case ShopPage::description: add_text(product_->description); break;
    case ShopPage::features: add_texts(product_->bullets); break;
    case ShopPage::attributes:
      add_texts(product_->attributes);
      add_text(product_->category);
      add_text(product_->query);
      add_text(product_->product_category);
      break;
    case ShopPage::item:
      for (const ProductOption& option : product_->options) {
        add_text(option.name);
        for (const std::string& value : option.values) add(Node::Kind::option, value);
      }
      add_text(product_->title);
      add_text("Price: " + product_->price_tag());
      add_text("Rating: N.A.");
      for (const SubPage& sub_page : kSubPages)
        if (sub_page.page != ShopPage::attributes || show_attributes_) add_button(sub_page.name);
      add_button(kBuyNow);
      break;
    default: break;  // no product has reviews
  }
  return nodes;
}

std::string Shop::text() const {
  std::vector<std::string> texts;
  for (const Node& node : nodes_) texts.emplace_back(python_strip(node.text));
  return join(texts, " [SEP] ");
}

// Returns the part of an item page's address that WebShop searches for chosen options.
std::string Shop::address() const {
  return product_->asin + "/" + join(split(keywords_, " "), "+") + "/" + std::to_string(results_page_) + "/" +
         options_json(chosen_);
}

std::string Shop::rich_text() const {
  std::string lines;
  std::size_t product = 0;
  const auto products = page_ == ShopPage::results ? products_of_page() : std::vector<std::uint32_t>();
  for (const Node& node : nodes_) {
    const auto button = [&](bool clicked) {
      return clicked ? "[clicked button] " + node.text + " [clicked button_]" : "[button] " + node.text + " [button_]";
    };
    switch (node.kind) {
      case Node::Kind::text: lines += node.text; break;
      case Node::Kind::button: lines += button(false); break;
      case Node::Kind::product: lines += "\n" + button(visited_.count(products.at(product++)) > 0); break;
      case Node::Kind::option: {
        const bool clicked = address().find("\"" + node.text + "\"") != std::string::npos;
        lines += "  " + button(clicked);
        if (clicked) lines.insert(0, "You have clicked " + node.text + ".\n");
        break;
      }
    }
    lines += "\n";
  }
  return lines;
}

}  // namespace starpo
