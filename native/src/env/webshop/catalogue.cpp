#include "env/webshop/catalogue.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "env/webshop/catalogue_reader.h"
#include "env/webshop/synthetic_catalogue.h"
#include "env/webshop/unicode_text.h"

namespace starpo {
namespace {

constexpr std::size_t kMaxHits = 50;
constexpr std::uint32_t kMaxSyntheticProducts = 2'000'000;
constexpr std::string_view kSyntheticPrefix = "synthetic:";

std::optional<SyntheticCatalogue> parse_synthetic(std::string_view name) {
  if (!name.starts_with(kSyntheticPrefix)) return std::nullopt;
  std::uint64_t numbers[2]{};
  const auto parts = split(name.substr(kSyntheticPrefix.size()), ":");
  bool valid = parts.size() == 2;
  for (std::size_t i = 0; valid && i < 2; ++i) {
    const char* const end = parts[i].data() + parts[i].size();
    const auto [parsed, error] = std::from_chars(parts[i].data(), end, numbers[i]);
    valid = error == std::errc() && parsed == end;
  }
  if (!valid || numbers[0] < 1 || numbers[0] > kMaxSyntheticProducts)
    throw Error("catalogue_invalid", "the catalogue \"" + std::string(name) + "\" is invalid",
                "use synthetic:N:SEED with 1 to 2000000 products, such as synthetic:1000:1");
  return SyntheticCatalogue(static_cast<std::uint32_t>(numbers[0]), numbers[1]);
}

}  // namespace

class Catalogue::Builder {
 public:
  void add(const Product& product) {
    products += pack(product);
    ends.push_back(products.size());
    asins.push_back(product.asin);
    products_with_nouns += product.nouns.has_value();
  }

  std::string products;
  std::vector<std::uint64_t> ends;
  std::vector<std::string> asins;
  std::size_t products_with_nouns = 0;
};

Catalogue::Catalogue(Builder&& built)
    : products_(std::move(built.products)),
      ends_(std::move(built.ends)),
      order_(ends_.size()),
      products_with_nouns_(built.products_with_nouns) {
  if (ends_.empty())
    throw Error("catalogue_invalid", "the catalogue has no products",
                "use a catalogue with products, or synthetic:1000:1");
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::sort(order_, {}, [&](std::uint32_t product) -> const std::string& { return built.asins[product]; });
  SearchIndexBuilder builder;
  for (const std::uint32_t index : order_) builder.add(product(index).search_text());
  index_bytes_ = std::move(builder).finish();
  index_ = std::make_unique<SearchIndex>(index_bytes_);
}

Catalogue::Catalogue(const std::vector<Product>& products)
    : Catalogue([&] {
        Builder builder;
        for (const Product& product : products) builder.add(product);
        return builder;
      }()) {}

std::shared_ptr<const Catalogue> Catalogue::open(const std::string& name, bool human_goals) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, bool>, std::weak_ptr<const Catalogue>> opened;
  const std::lock_guard lock(mutex);
  auto& known = opened[{name, human_goals}];
  if (auto catalogue = known.lock()) return catalogue;

  Builder builder;
  if (const auto synthetic = parse_synthetic(name)) {
    CatalogueReader reader(human_goals);
    synthetic->generate([&](const std::string& asin, const SyntheticCatalogue::Entry& entry) {
      reader.add_annotations(asin, entry.annotations);
      if (human_goals) reader.add_human_instructions(asin, entry.human_instructions);
      builder.add(reader.read(entry.item).value());
    });
  } else {
    read_catalogue_folder(name, human_goals, [&](const Product& product) { builder.add(product); });
  }
  std::shared_ptr<const Catalogue> catalogue(new Catalogue(std::move(builder)));
  known = catalogue;
  return catalogue;
}

Product Catalogue::product(std::size_t index) const {
  const std::uint64_t begin = index == 0 ? 0 : ends_.at(index - 1);
  return unpack_product(std::string_view(products_).substr(begin, ends_.at(index) - begin));
}

template <class Matches>
std::vector<std::uint32_t> Catalogue::select(Matches matches) const {
  std::vector<std::uint32_t> selected;
  for (std::size_t i = 0; i < size(); ++i)
    if (matches(product(i))) selected.push_back(static_cast<std::uint32_t>(i));
  return selected;
}

std::vector<std::uint32_t> Catalogue::search(std::string_view keywords) const {
  const std::vector<std::string> words = split(keywords, " ");
  const auto rest = [&] {
    return std::string(python_strip(keywords.substr(std::min(keywords.size(), words[0].size() + 1))));
  };
  if (words[0] == "<a>" || (words[0] == "<c>" && words.size() < 2)) return {};
  if (words[0] == "<c>")
    return select([category = std::string(python_strip(words[1]))](const Product& product) {
      return product.category == category;
    });
  if (words[0] == "<q>") return select([query = rest()](const Product& product) { return product.query == query; });
  std::vector<std::uint32_t> found;
  for (const SearchHit& hit : index_->search(keywords, kMaxHits)) found.push_back(order_[hit.document]);
  return found;
}

}  // namespace starpo
