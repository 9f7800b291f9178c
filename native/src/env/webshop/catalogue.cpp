#include "env/webshop/catalogue.h"

#include <charconv>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "env/webshop/catalogue_reader.h"
#include "env/webshop/search_index_builder.h"
#include "env/webshop/synthetic_catalogue.h"
#include "env/webshop/unicode_text.h"
#include "files/mapped_file.h"
#include "files/reading.h"
#include "files/sha256.h"
#include "files/temporary_file.h"

namespace starpo {
namespace {

constexpr std::size_t kMaxHits = 50;
constexpr std::size_t kProgressStep = 10'000;  // products
constexpr std::size_t kDigestLength = 64;
constexpr std::string_view kIndexVersion = "2";
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

void report_progress(const Catalogue::Progress& progress, std::string_view stage, std::size_t done) {
  if (progress && done % kProgressStep == 0) progress(stage, done);
}

void write_search_index(const ProductStore& store, const WriteBytes& write, const Catalogue::Progress& progress = {}) {
  if (store.size() == 0)
    throw Error("catalogue_invalid", "the catalogue has no products",
                "use a catalogue with products, or synthetic:1000:1");
  SearchIndexBuilder builder;
  std::size_t done = 0;
  for (const std::uint32_t number : store.by_asin()) {
    const Product product = store.product(number);
    builder.add(product.search_text(), product.product_category);
    report_progress(progress, "search", ++done);
  }
  std::move(builder).finish(write);
}

// Returns a text that changes with the names, sizes and times of a catalogue's files.
std::string index_key(const CatalogueFiles& files) {
  std::string description = std::string(kIndexVersion);
  for (const auto& path : {files.products, files.annotations, files.human_instructions, files.nouns}) {
    if (path.empty()) continue;
    description += "\n" + path.filename().string() + " " + std::to_string(std::filesystem::file_size(path)) + " " +
                   std::to_string(std::filesystem::last_write_time(path).time_since_epoch().count());
  }
  return sha256(description).substr(0, 16);
}

bool is_index_file(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("starpo-") &&
         (name.ends_with(".products") || name.ends_with(".search") || name.ends_with(".sha256"));
}

// Deletes the indexes of a folder, except for the one for the other kind of goals if it is up to date.
void delete_old_indexes(const std::filesystem::path& folder, bool human_goals) {
  std::string other;
  try {
    other = index_key(find_catalogue_files(folder, !human_goals));
  } catch (const Error&) {  // the folder has no goals of the other kind
  }
  for (const auto& path : folder_entries(folder))
    if (is_index_file(path) && (other.empty() || !path.filename().string().starts_with("starpo-" + other)))
      std::filesystem::remove(path);
}

}  // namespace

void Catalogue::build_in_memory(const AddProducts& add_products) {
  const auto products = std::make_shared<std::string>(), search = std::make_shared<std::string>();
  ProductStoreWriter writer([&](std::string_view bytes) { *products += bytes; });
  add_products([&](const Product& product) { writer.add(product); });
  writer.finish();
  store_ = std::make_unique<ProductStore>(*products);
  write_search_index(*store_, [&](std::string_view bytes) { *search += bytes; });
  index_ = std::make_unique<SearchIndex>(*search);
  owners_ = {products, search};
  digest_ = sha256(*products);
}

Catalogue::Catalogue(const AddProducts& add_products) { build_in_memory(add_products); }

Catalogue::Catalogue(const std::vector<Product>& products)
    : Catalogue(AddProducts([&](const auto& add) {
        for (const Product& product : products) add(product);
      })) {}

Catalogue::Catalogue(const std::filesystem::path& folder, bool human_goals, std::uintmax_t largest_in_memory,
                     const Progress& progress) {
  const CatalogueFiles files = find_catalogue_files(folder, human_goals);
  const AddProducts add_products = [&](const auto& add) { read_catalogue(files, human_goals, add); };
  if (std::filesystem::file_size(files.products) <= largest_in_memory) {
    build_in_memory(add_products);
    return;
  }

  const std::string key = index_key(files);
  const auto file = [&](const char* extension) { return folder / ("starpo-" + key + extension); };
  const auto products = file(".products"), search = file(".search"), digest = file(".sha256");
  if (!std::filesystem::exists(products)) {
    delete_old_indexes(folder, human_goals);
    TemporaryFile written(products);
    ProductStoreWriter writer([&](std::string_view bytes) { written.write(bytes); });
    std::size_t done = 0;
    add_products([&](const Product& product) {
      writer.add(product);
      report_progress(progress, "products", ++done);
    });
    writer.finish();
    written.commit();
  }
  const auto mapped_products = std::make_shared<const MappedFile>(products);
  store_ = std::make_unique<ProductStore>(mapped_products->bytes());
  if (!std::filesystem::exists(search)) {
    TemporaryFile written(search);
    write_search_index(*store_, [&](std::string_view bytes) { written.write(bytes); }, progress);
    written.commit();
  }
  const auto mapped_search = std::make_shared<const MappedFile>(search);
  index_ = std::make_unique<SearchIndex>(mapped_search->bytes());
  if (index_->size() != store_->size())
    throw Error("index_invalid", search.string() + " was built for a different catalogue",
                "delete the file to rebuild it");
  owners_ = {mapped_products, mapped_search};
  digest_ = read_text_file(digest, 2 * kDigestLength).value_or("");
  if (digest_.size() != kDigestLength) {
    digest_ = sha256(mapped_products->bytes());
    try {
      write_file_atomically(digest, digest_);
    } catch (const Error&) {  // A folder with an index may be read-only. The digest is then computed at each start.
    }
  }
}

bool Catalogue::is_folder(std::string_view name) { return !name.starts_with(kSyntheticPrefix); }

std::shared_ptr<const Catalogue> Catalogue::open(const std::string& name, bool human_goals) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, bool>, std::weak_ptr<const Catalogue>> opened;
  const std::lock_guard lock(mutex);
  auto& cached = opened[{name, human_goals}];
  if (auto catalogue = cached.lock()) return catalogue;

  std::shared_ptr<const Catalogue> catalogue;
  if (const auto synthetic = parse_synthetic(name)) {
    catalogue.reset(new Catalogue(AddProducts([&](const auto& add) {
      CatalogueReader reader(human_goals);
      synthetic->generate([&](const std::string& asin, const SyntheticCatalogue::Entry& entry) {
        reader.add_annotations(asin, entry.annotations);
        if (human_goals) reader.add_human_instructions(asin, entry.human_instructions);
        add(reader.read(entry.item).value());
      });
    })));
  } else {
    catalogue = std::make_shared<const Catalogue>(std::filesystem::path(name), human_goals);
  }
  cached = catalogue;
  return catalogue;
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
  for (const SearchHit& hit : index_->search(keywords, kMaxHits)) found.push_back(store_->by_asin()[hit.document]);
  return found;
}

}  // namespace starpo
