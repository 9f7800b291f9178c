#include <nlohmann/json.hpp>

#include "env/webshop/analyzer.h"
#include "env/webshop/catalogue_reader.h"
#include "env/webshop/fuzzy_match.h"
#include "env/webshop/search_index.h"
#include "env/webshop/shop.h"
#include "env/webshop/unicode_text.h"
#include "targets.h"

namespace starpo::fuzz {
namespace {

// Actions, one per line, on a small catalogue.
void shop_actions(std::string_view input) {
  static const auto goals = std::make_shared<const GoalList>(Catalogue::open("synthetic:30:1", false), false, 0);
  Shop shop(goals, true);
  shop.start(input.size() % goals->size());
  for (const std::string& action : split(input, "\n")) {
    const std::string before = shop.text();
    const ShopStep step = shop.step(action);
    require(step.executed || shop.text() == before, "an action that is not available changes nothing");
    require(shop.rich_text().size() >= goals->goal(0).attributes.size(), "every page has a text");
    if (step.purchase) require(step.purchase->total >= 0 && step.purchase->total <= 1, "a reward is from 0 to 1");
  }
}

// A product, followed by its annotations.
void catalogue_product(std::string_view input) {
  const auto lines = split(input, "\n");
  const auto item = nlohmann::ordered_json::parse(lines[0], nullptr, false);
  const auto annotations = nlohmann::ordered_json::parse(lines.size() > 1 ? lines[1] : "{}", nullptr, false);
  CatalogueReader reader(lines.size() > 2);
  if (item.is_discarded() || annotations.is_discarded()) return;
  succeeds([&] {
    reader.add_annotations("A", annotations);
    if (const auto product = reader.read(item)) {
      require(pack(unpack_product(pack(*product))) == pack(*product), "a packed product is read as it was packed");
      product->price_tag();
    }
  });
}

void shop_texts(std::string_view input) {
  for (const std::string& term : analyze_english(input)) require(term.size() <= input.size() * 3, "terms are parts");
  const int ratio = token_set_ratio(input, input.substr(input.size() / 2));
  require(ratio >= 0 && ratio <= 100, "a ratio is from 0 to 100");
  python_lower(input);
  python_repr(input);
  python_strip(input);
}

void index_bytes(std::string_view input) {
  const std::string aligned(input);
  succeeds([&] {
    const SearchIndex index(aligned);
    const auto hits = index.search("red mug", 50);
    require(hits.size() <= 50, "a search has a limit");
    for (std::size_t i = 0; i < hits.size(); ++i) {
      require(hits[i].document < index.size() && hits[i].score > 0, "a hit is a document with a score");
      require(i == 0 || !hits[i].is_better_than(hits[i - 1]), "hits are sorted");
    }
  });
  succeeds([&] {
    const ProductStore store(aligned);
    for (std::size_t i = 0; i < store.size(); ++i) store.product(i);
  });
}

}  // namespace

// The first byte selects a part of WebShop that reads untrusted input. The rest is the input.
void webshop(std::string_view input) {
  constexpr std::array parts{shop_actions, catalogue_product, shop_texts, index_bytes};
  if (!input.empty()) parts[static_cast<unsigned char>(input[0]) % parts.size()](input.substr(1));
}

}  // namespace starpo::fuzz
