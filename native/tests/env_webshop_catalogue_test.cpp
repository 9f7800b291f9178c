#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "env/webshop/catalogue.h"
#include "env/webshop/catalogue_reader.h"
#include "env/webshop/goals.h"
#include "env/webshop/search_index_builder.h"
#include "env/webshop/synthetic_catalogue.h"
#include "error_code.h"
#include "files/sha256.h"
#include "temporary_folder.h"

using namespace starpo;
using nlohmann::ordered_json;

namespace {

// changes: keys of the product, as JSON.
ordered_json item_of(const std::string& asin, const std::string& changes = "{}") {
  ordered_json item = ordered_json::parse(
      R"({"name": "Red Mug", "full_description": "A mug.", "small_description": ["One", "Two"], "pricing": "$12.00",
          "customization_options": null, "product_category": "Home › Mugs", "category": "garden",
          "query": " Mugs\u00a0"})");
  item["asin"] = asin;
  item.update(ordered_json::parse(changes));
  return item;
}

// Reads one product whose annotations exist.
Product read_item(const std::string& changes) {
  CatalogueReader reader(false);
  reader.add_annotations("A", ordered_json::parse(R"({"attributes": ["safe"]})"));
  return reader.read(item_of("A", changes)).value();
}

std::string item_error(const std::string& changes) {
  return error_code_of([&] { read_item(changes); });
}

// A folder with a catalogue of two products.
struct CatalogueFolder {
  TemporaryFolder temporary;

  CatalogueFolder() {
    write("items_shuffle_2.json", ordered_json::array({item_of("A"), item_of("B")}).dump());
    write(
        "items_ins_v2_2.json",
        R"({"A": {"attributes": ["safe"], "instruction": "Find a mug", "instruction_attributes": ["safe"]}, "B": {}})");
  }
  void write(const std::string& name, const std::string& text) { write_text(temporary.path() / name, text); }
  std::vector<Product> read(bool human_goals = false) {
    std::vector<Product> products;
    read_catalogue(find_catalogue_files(temporary.path(), human_goals), human_goals,
                   [&](const Product& product) { products.push_back(product); });
    return products;
  }
  std::string error(bool human_goals = false) {
    return error_code_of([&] { read(human_goals); });
  }
};

}  // namespace

TEST_CASE("products are read as WebShop reads them") {
  const Product product = read_item("{}");
  CHECK(product.title == "Red Mug");
  CHECK(product.query == "mugs");
  CHECK(product.bullets == std::vector<std::string>{"One", "Two"});
  CHECK(product.attributes == std::vector<std::string>{"safe"});
  CHECK(product.options.empty());
  CHECK_FALSE(product.instruction);
  CHECK(read_item(R"({"small_description": "Only"})").bullets == std::vector<std::string>{"Only"});
}

TEST_CASE("the asin nan, long asins and repeated asins are skipped") {
  CatalogueReader reader(true);
  CHECK_FALSE(reader.read(item_of("nan")));
  CHECK_FALSE(reader.read(item_of("12345678901")));
  CHECK_FALSE(reader.read(ordered_json::parse(R"({"asin": "12345678901"})")));  // before other keys are read
  CHECK(reader.read(item_of("1234567890")));
  CHECK_FALSE(reader.read(item_of("1234567890")));
}

TEST_CASE("prices") {
  const auto tag = [](const std::string& pricing) {
    return read_item("{\"pricing\": \"" + pricing + "\"}").price_tag();
  };
  CHECK(tag("$48.70") == "$48.7");
  CHECK(tag("$1,299.50") == "$1299.5");
  CHECK(tag("from $5 to $ 9.50 each") == "$5.0 to $9.5");
  CHECK(tag("$1$2$3") == "$1.0 to $2.0");
  CHECK(tag("$.5") == "$0.5");
  CHECK(tag("") == "$100.0");
  CHECK(read_item(R"({"pricing": null})").price_tag() == "$100.0");
  auto without = item_of("A");
  without.erase("pricing");
  CatalogueReader reader(true);
  CHECK(reader.read(without)->prices == std::vector<double>{100});
  for (const char* invalid : {"\"12.00\"", "\"$\"", "\"$1.2.3\"", "\"$5 - $\"", "7", "\"$x\""})
    CHECK(item_error("{\"pricing\": " + std::string(invalid) + "}") == "catalogue_invalid");
}

TEST_CASE("options are in lower case, and a repeated name replaces the values and keeps its place") {
  const auto options = [](const std::string& json) {
    return read_item("{\"customization_options\": " + json + "}").options;
  };
  const auto groups = options(R"({"Color": [{"value": " Red/Blue "}, {"value": "TAN", "image": null}], "none": null,
                                  "size": [], "COLOR": [{"value": "x"}]})");
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].name == "color");
  CHECK(groups[0].values == std::vector<std::string>{"x"});
  CHECK(groups[1].values.empty());
  CHECK(options(R"({"c": [{"value": " Red/Blue "}]})")[0].values == std::vector<std::string>{"red | blue"});
  CHECK(options("\"\"").empty());
  for (const char* invalid : {R"("x")", R"({"c": "x"})", R"({"c": ["x"]})", R"({"c": [{"image": "x"}]})"})
    CHECK(item_error("{\"customization_options\": " + std::string(invalid) + "}") == "catalogue_invalid");
}

TEST_CASE("missing and wrong keys are reported with product and key") {
  for (const char* key : {"name", "full_description", "small_description", "category", "query", "product_category"})
    for (const char* value : {"null", "5"}) {
      CatalogueReader reader(true);
      try {
        reader.read(item_of("A", "{\"" + std::string(key) + "\": " + value + "}"));
        FAIL("read an invalid product");
      } catch (const Error& error) {
        CHECK(error.code() == "catalogue_invalid");
        CHECK(std::string(error.what()).starts_with("product A: " + std::string(key)));
      }
    }
  CatalogueReader reader(false);
  CHECK(error_code_of([&] { reader.read(item_of("A")); }) == "catalogue_invalid");  // no annotations
  const auto read_error = [&](const char* json) {
    return error_code_of([&] { reader.read(ordered_json::parse(json)); });
  };
  CHECK(read_error(R"({"asin": 5})") == "catalogue_invalid");
  CHECK(read_error(R"("text")") == "catalogue_invalid");
  for (const char* annotations : {R"({"instruction": "x"})", R"({"instruction": "x", "instruction_attributes": []})",
                                  R"({"attributes": "x"})", "[]"})
    CHECK(error_code_of([&] { reader.add_annotations("A", ordered_json::parse(annotations)); }) == "catalogue_invalid");
}

TEST_CASE("a product without attributes has a placeholder") {
  CatalogueFolder folder;
  const auto products = folder.read();
  REQUIRE(products.size() == 2);
  CHECK(products[0].instruction == "Find a mug");
  CHECK(products[1].attributes == std::vector<std::string>{"DUMMY_ATTR"});
}

TEST_CASE("nouns.tsv lists nouns of some products") {
  CatalogueFolder folder;
  folder.write("nouns.tsv", "A\tMug  cup\r\nX\t\n");
  const auto products = folder.read();
  CHECK(products[0].nouns == std::vector<std::string>{"mug", "cup"});
  CHECK_FALSE(products[1].nouns);
  folder.write("nouns.tsv", "A mug\n");
  CHECK(folder.error() == "catalogue_invalid");
}

TEST_CASE("an incomplete, ambiguous, truncated or foreign catalogue is rejected") {
  CatalogueFolder folder;
  CHECK(folder.error(true) == "catalogue_missing");  // human instructions
  folder.write("items_human_ins.json", R"({"B": [{"instruction": "a mug", "instruction_attributes": ["x"],
    "instruction_options": ["y"]}]})");
  CHECK(folder.read(true)[1].human_instructions.size() == 1);

  const std::string valid = read_text(folder.temporary.path() / "items_shuffle_2.json");
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{40}, valid.size() - 1}) {
    folder.write("items_shuffle_2.json", valid.substr(0, size));
    CHECK(folder.error() == "catalogue_invalid");
  }
  for (const char* foreign : {"{}", "5", "[5]", R"([{"title": "x"}])", "asin,name", "[] []"}) {
    folder.write("items_shuffle_2.json", foreign);
    CHECK(folder.error() == "catalogue_invalid");
  }
  folder.write("items_shuffle_2.json", valid);
  folder.write("items_ins_v2_2.json", "[]");
  CHECK(folder.error() == "catalogue_invalid");
  folder.write("items_shuffle_3.json", valid);
  CHECK(folder.error() == "catalogue_ambiguous");
  CHECK(error_code_of([] { Catalogue::open("/nonexistent", false); }) == "catalogue_missing");
}

TEST_CASE("a catalogue without products is rejected") {
  CatalogueFolder folder;
  folder.write("items_shuffle_2.json", "[]");
  CHECK(error_code_of([&] { Catalogue::open(folder.temporary.path().string(), false); }) == "catalogue_invalid");
}

TEST_CASE("the synthetic catalogue is the same on every machine, and large enough for RAGEN's splits") {
  const auto catalogue = Catalogue::open("synthetic:1000:1", false);
  CHECK(Catalogue::open("synthetic:1000:1", false) == catalogue);
  std::string packed;
  for (std::size_t i = 0; i < catalogue->size(); ++i) packed += pack(catalogue->product(i));
  CHECK(sha256(packed) == "f85ec498b549628747f2188d13ce73c2ae7d96c1e660e4f759b8981fda35e765");
  CHECK(GoalList(catalogue, false, 0).size() == 2238);
  CHECK(Catalogue::open("synthetic:20:2", false)->product(0).title != catalogue->product(0).title);
  for (const char* invalid : {"synthetic:", "synthetic:0:1", "synthetic:5", "synthetic:x:1", "synthetic:5:1:1",
                              "synthetic:-5:1", "synthetic:3000000:1"})
    CHECK(error_code_of([&] { Catalogue::open(invalid, false); }) == "catalogue_invalid");
}

TEST_CASE("a written synthetic catalogue is read with the same products and search") {
  TemporaryFolder folder;
  SyntheticCatalogue(60, 3).write(folder.path());
  for (const bool human_goals : {false, true}) {
    const auto read = Catalogue::open(folder.path().string(), human_goals);
    const auto generated = Catalogue::open("synthetic:60:3", human_goals);
    REQUIRE(read->size() == generated->size());
    for (std::size_t i = 0; i < read->size(); ++i) CHECK(pack(read->product(i)) == pack(generated->product(i)));
    CHECK(read->search("machine wash shirt") == generated->search("machine wash shirt"));
  }
}

TEST_CASE("a large catalogue gets mapped index files, which are built once per version of its files") {
  TemporaryFolder folder;
  SyntheticCatalogue(60, 3).write(folder.path());
  const auto index_files = [&] {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      if (const std::string name = entry.path().filename().string(); name.starts_with("starpo-")) names.push_back(name);
    std::ranges::sort(names);
    return names;
  };
  const auto open = [&] { return std::make_unique<const Catalogue>(folder.path(), false, 1); };
  const Catalogue in_memory(folder.path(), false, 1 << 30);
  CHECK(index_files().empty());

  // An index in the format of version 1 is replaced.
  std::string version_1 = "1";
  for (const char* name : {"items_shuffle.json", "items_ins_v2.json"}) {
    const auto path = folder.path() / name;
    version_1 += "\n" + std::string(name) + " " + std::to_string(std::filesystem::file_size(path)) + " " +
                 std::to_string(std::filesystem::last_write_time(path).time_since_epoch().count());
  }
  for (const char* extension : {".products", ".search"})
    write_text(folder.path() / ("starpo-" + sha256(version_1).substr(0, 16) + extension), "SSPIDX01");
  const auto built = open();
  const auto names = index_files();
  REQUIRE(names.size() == 3);
  REQUIRE(built->size() == in_memory.size());
  for (std::size_t i = 0; i < built->size(); ++i) CHECK(pack(built->product(i)) == pack(in_memory.product(i)));
  CHECK(built->search("machine wash shirt") == in_memory.search("machine wash shirt"));
  CHECK(built->digest() == in_memory.digest());
  CHECK(read_text(folder.path() / names[2]) == built->digest());
  write_text(folder.path() / names[2], "truncated");
  CHECK(open()->digest() == built->digest());

  const auto time = [&] { return std::filesystem::last_write_time(folder.path() / names[0]); };
  const auto built_at = time();
  CHECK(open()->search("tea") == in_memory.search("tea"));
  CHECK(index_files() == names);
  CHECK(time() == built_at);

  const std::string products = read_text(folder.path() / names[0]);
  write_text(folder.path() / names[0], products.substr(0, products.size() - 8));
  CHECK(error_code_of(open) == "index_invalid");
  write_text(folder.path() / names[0], products);
  const std::string search = read_text(folder.path() / names[1]);
  SearchIndexBuilder more_products;
  for (std::size_t i = 0; i <= built->size(); ++i) more_products.add("tea");
  std::string bytes;
  std::move(more_products).finish([&](std::string_view piece) { bytes += piece; });
  write_text(folder.path() / names[1], bytes);
  CHECK(error_code_of(open) == "index_invalid");
  write_text(folder.path() / names[1], search);
  CHECK(open()->search("tea") == in_memory.search("tea"));

  const Catalogue human(folder.path(), true, 1);  // its index and the other one stay side by side
  CHECK(index_files().size() == 6);
  CHECK(human.digest() != built->digest());

  SyntheticCatalogue(61, 3).write(folder.path());  // an index older than its catalogue is not used
  CHECK(open()->size() == 61);
  CHECK(open()->digest() != built->digest());
  CHECK(index_files().size() == 3);
  CHECK(index_files() != names);
}

TEST_CASE("a damaged product store is rejected, or reading it fails with index_invalid") {
  std::string bytes;
  ProductStoreWriter writer([&](std::string_view piece) { bytes += piece; });
  for (const Product& product : {read_item("{}"), read_item(R"({"pricing": "$1 - $2"})")}) writer.add(product);
  writer.finish();
  CHECK(ProductStore(bytes).product(1).prices.size() == 2);
  for (std::size_t size = 0; size < bytes.size(); size += 8) {
    const std::string truncated = bytes.substr(0, size);
    CHECK(error_code_of([&] { ProductStore store(truncated); }) == "index_invalid");
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xFF);
    const std::string code = error_code_of([&] { ProductStore(damaged).product(0); });
    CHECK((code == "none" || code == "index_invalid"));
  }
}

TEST_CASE("a search for a product's title ranks that product first") {
  const auto catalogue = Catalogue::open("synthetic:60:3", false);
  for (const std::uint32_t i : {0u, 17u, 59u}) {
    const auto found = catalogue->search(catalogue->product(i).title);
    REQUIRE_FALSE(found.empty());
    CHECK(catalogue->product(found[0]).title == catalogue->product(i).title);
  }
}
