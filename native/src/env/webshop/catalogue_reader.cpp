#include "env/webshop/catalogue_reader.h"

#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "env/webshop/unicode_text.h"
#include "files/reading.h"
#include "tokenizer/utf8.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kCatalogueHint =
    "use WebShop's files items_shuffle*.json, items_ins_v2*.json and items_human_ins.json, or synthetic:1000:1";
constexpr std::size_t kMaxAsinCharacters = 10;

Error catalogue_error(const std::string& problem) { return Error("catalogue_invalid", problem, kCatalogueHint); }

// Reads keys of one product with errors that name it.
class EntryReader {
 public:
  EntryReader(std::string name, const Json& entry) : name_(std::move(name)), entry_(entry) {
    if (!entry.is_object()) throw catalogue_error(name_ + " is not a JSON object");
  }

  [[noreturn]] void fail(const std::string& key, const std::string& problem) const {
    throw catalogue_error(name_ + ": " + key + " " + problem);
  }

  // Returns null for a missing key.
  const Json& find(const char* key) const {
    static const Json missing;
    const auto found = entry_.find(key);
    return found == entry_.end() ? missing : *found;
  }

  std::string text(const char* key) const {
    const Json& value = find(key);
    if (!value.is_string()) fail(key, value.is_null() ? "is missing" : "must be a string");
    return value.get<std::string>();
  }

  std::vector<std::string> texts(const char* key) const {
    const Json& value = find(key);
    if (!value.is_array()) fail(key, value.is_null() ? "is missing" : "must be a list of strings");
    std::vector<std::string> result;
    for (const Json& item : value) {
      if (!item.is_string()) fail(key, "must be a list of strings");
      result.push_back(item.get<std::string>());
    }
    return result;
  }

 private:
  std::string name_;
  const Json& entry_;
};

// A value that is false in Python.
bool is_falsy(const Json& value) {
  return value.is_null() || (value.is_boolean() && !value.get<bool>()) ||
         (value.is_number() && value.get<double>() == 0) ||
         (value.is_string() && value.get_ref<const std::string&>().empty()) || (value.is_structured() && value.empty());
}

// The number in a piece of a price such as "1,299.50 - ".
std::optional<double> read_price(std::string_view piece) {
  std::string digits;
  for (const char c : piece)
    if ((c >= '0' && c <= '9') || c == '.') digits.push_back(c);
  double price = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), price);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return price;
}

std::vector<double> read_prices(const EntryReader& entry) {
  const Json& pricing = entry.find("pricing");
  if (is_falsy(pricing)) return {100.0};
  if (!pricing.is_string()) entry.fail("pricing", "must be a string or null");
  std::vector<std::string> pieces = split(pricing.get_ref<const std::string&>(), "$");
  std::vector<double> prices;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const auto price = read_price(pieces[i]);
    if (!price) entry.fail("pricing", "has no number after a $: " + pricing.get<std::string>());
    prices.push_back(*price);
  }
  if (prices.empty()) entry.fail("pricing", "has no $: " + pricing.get<std::string>());
  if (prices.size() > 2) prices.resize(2);
  return prices;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  return join(split(text, from), to);
}

std::vector<ProductOption> read_options(const EntryReader& entry) {
  const Json& groups = entry.find("customization_options");
  std::vector<ProductOption> options;
  if (is_falsy(groups)) return options;
  if (!groups.is_object()) entry.fail("customization_options", "must be an object");
  for (const auto& [name, contents] : groups.items()) {
    if (contents.is_null()) continue;
    if (!contents.is_array()) entry.fail("customization_options", "must contain lists");
    ProductOption option{python_lower(name), {}};
    for (const Json& content : contents) {
      const auto value = content.is_object() ? content.find("value") : content.end();
      if (value == content.end() || !value->is_string())
        entry.fail("customization_options", "must contain lists of objects with a string \"value\"");
      option.values.push_back(
          python_lower(replace_all(python_strip(value->get_ref<const std::string&>()), "/", " | ")));
    }
    const auto same = std::ranges::find(options, option.name, &ProductOption::name);
    if (same == options.end())
      options.push_back(std::move(option));
    else
      same->values = std::move(option.values);
  }
  return options;
}

}  // namespace

void CatalogueReader::add_annotations(const std::string& asin, const Json& json) {
  const EntryReader entry("annotations of product " + asin, json);
  ProductAnnotations annotations;
  if (!entry.find("attributes").is_null()) annotations.attributes = entry.texts("attributes");
  if (!entry.find("instruction").is_null()) {
    annotations.instruction = entry.text("instruction");
    annotations.instruction_attributes = entry.texts("instruction_attributes");
    if (annotations.instruction_attributes.empty()) entry.fail("instruction_attributes", "must not be empty");
  }
  annotations_[asin] = std::move(annotations);
}

void CatalogueReader::add_human_instructions(const std::string& asin, const Json& json) {
  const std::string name = "human instructions of product " + asin;
  if (!json.is_array()) throw catalogue_error(name + " must be a list");
  std::vector<HumanInstruction> instructions;
  for (const Json& item : json) {
    const EntryReader entry(name, item);
    instructions.push_back(
        {entry.text("instruction"), entry.texts("instruction_attributes"), entry.texts("instruction_options")});
  }
  human_instructions_[asin] = std::move(instructions);
}

void CatalogueReader::add_nouns(const std::string& asin, std::vector<std::string> nouns) {
  nouns_[asin] = std::move(nouns);
}

std::optional<Product> CatalogueReader::read(const Json& json) {
  const std::string number = "product " + std::to_string(asins_.size() + 1);
  const std::string asin = EntryReader(number, json).text("asin");
  if (asin == "nan" || to_utf32(asin).size() > kMaxAsinCharacters || !asins_.insert(asin).second) return std::nullopt;

  const EntryReader entry("product " + asin, json);
  Product product;
  product.asin = asin;
  product.title = entry.text("name");
  product.description = entry.text("full_description");
  const Json& bullets = entry.find("small_description");
  product.bullets = bullets.is_string() ? std::vector{bullets.get<std::string>()} : entry.texts("small_description");
  product.category = entry.text("category");
  product.query = python_strip(python_lower(entry.text("query")));
  product.product_category = entry.text("product_category");
  product.prices = read_prices(entry);
  product.options = read_options(entry);

  const auto annotations = annotations_.find(asin);
  if (annotations == annotations_.end() && !human_goals_) entry.fail("annotations", "are missing in items_ins_v2");
  product.attributes = {"DUMMY_ATTR"};
  if (annotations != annotations_.end()) {
    if (annotations->second.attributes) product.attributes = *annotations->second.attributes;
    product.instruction = annotations->second.instruction;
    product.instruction_attributes = annotations->second.instruction_attributes;
  }
  if (const auto human = human_instructions_.find(asin); human != human_instructions_.end())
    product.human_instructions = human->second;
  if (const auto nouns = nouns_.find(asin); nouns != nouns_.end()) product.nouns = nouns->second;
  return product;
}

namespace {

// Returns the only file of a folder whose name begins with a prefix and ends with .json.
std::filesystem::path find_catalogue_file(const std::filesystem::path& folder, const std::string& prefix) {
  std::vector<std::filesystem::path> found;
  for (const auto& path : folder_entries(folder)) {
    const std::string name = path.filename().string();
    if (name.starts_with(prefix) && name.ends_with(".json")) found.push_back(path);
  }
  if (found.empty())
    throw Error("catalogue_missing", folder.string() + " has no file " + prefix + "*.json", kCatalogueHint);
  if (found.size() > 1)
    throw Error("catalogue_ambiguous",
                folder.string() + " has several files " + prefix + "*.json: " + found[0].filename().string() + ", " +
                    found[1].filename().string(),
                "keep one catalogue per folder");
  return found[0];
}

// Calls `receive` with each element of a JSON array, or with each key and value of an object, and keeps none.
void stream_json(const std::filesystem::path& path, bool array,
                 const std::function<void(const std::string& key, const Json&)>& receive) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("catalogue_missing", path.string() + " can't be read", kCatalogueHint);
  const std::string name = path.filename().string();
  std::string key;
  const auto on_event = [&](int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (depth == 0 && event == (array ? Event::object_start : Event::array_start))
      throw catalogue_error(name + " must be a JSON " + (array ? "array" : "object"));
    if (depth == 1 && event == Event::key) key = value.get<std::string>();
    const bool complete = event == Event::object_end || event == Event::array_end || event == Event::value;
    if (depth != 1 || !complete) return true;
    receive(key, value);
    return false;
  };
  try {
    const Json rest = Json::parse(file, on_event);
    if (!rest.is_structured()) throw catalogue_error(name + " must be a JSON " + (array ? "array" : "object"));
  } catch (const Json::parse_error& error) {
    throw catalogue_error(name + " is not valid JSON at byte " + std::to_string(error.byte));
  } catch (const Json::out_of_range&) {
    throw catalogue_error(name + " contains a number that is out of range");
  } catch (const Error& error) {
    const std::string message = error.what();
    throw Error(error.code(), message.starts_with(name) ? message : name + ": " + message, error.hint());
  }
}

void read_nouns(const std::filesystem::path& path, CatalogueReader& reader) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("catalogue_missing", path.string() + " can't be read", kCatalogueHint);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos || valid_utf8_length(line) != line.size())
      throw Error("catalogue_invalid", "nouns.tsv: line " + std::to_string(number) + " is invalid",
                  "write an ASIN, a tab and the nouns of the title separated by spaces in each line, in UTF-8");
    std::vector<std::string> nouns;
    for (auto& noun : split(python_lower(line.substr(tab + 1)), " "))
      if (!noun.empty()) nouns.push_back(std::move(noun));
    reader.add_nouns(line.substr(0, tab), std::move(nouns));
  }
}

}  // namespace

CatalogueFiles find_catalogue_files(const std::filesystem::path& folder, bool human_goals) {
  CatalogueFiles files{.products = find_catalogue_file(folder, "items_shuffle"),
                       .annotations = find_catalogue_file(folder, "items_ins_v2"),
                       .human_instructions = {},
                       .nouns = {}};
  if (human_goals) files.human_instructions = find_catalogue_file(folder, "items_human_ins");
  std::error_code ignored;
  if (std::filesystem::exists(folder / "nouns.tsv", ignored)) files.nouns = folder / "nouns.tsv";
  return files;
}

void read_catalogue(const CatalogueFiles& files, bool human_goals, const std::function<void(const Product&)>& receive) {
  CatalogueReader reader(human_goals);
  stream_json(files.annotations, false,
              [&](const std::string& asin, const Json& entry) { reader.add_annotations(asin, entry); });
  if (human_goals)
    stream_json(files.human_instructions, false,
                [&](const std::string& asin, const Json& entry) { reader.add_human_instructions(asin, entry); });
  if (!files.nouns.empty()) read_nouns(files.nouns, reader);
  stream_json(files.products, true, [&](const std::string&, const Json& item) {
    if (const auto product = reader.read(item)) receive(*product);
  });
}

}  // namespace starpo
