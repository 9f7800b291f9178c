#include "env/webshop/synthetic_catalogue.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "env/webshop/synthetic_tables.h"
#include "env/webshop/unicode_text.h"
#include "files/temporary_file.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

// SplitMix64 (Steele et al. 2014) with integer-only draws, so that every machine makes the same catalogue.
class SyntheticDraws {
 public:
  explicit SyntheticDraws(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }

  // [0, count)
  std::size_t below(std::size_t count) { return static_cast<std::size_t>((next() >> 32) * count >> 32); }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }

  std::string pick(Words words) { return std::string(words[below(words.size())]); }

  // Returns different words in the order of the list.
  std::vector<std::string> pick(Words words, std::size_t count) {
    std::vector<std::string> picked;
    for (std::size_t i = 0; i < words.size() && picked.size() < count; ++i)
      if (below(words.size() - i) < count - picked.size()) picked.emplace_back(words[i]);
    return picked;
  }

 private:
  std::uint64_t state_;
};

// Returns ten characters, different for different numbers below 36^8.
std::string synthetic_asin(std::uint64_t number, std::uint64_t seed) {
  constexpr std::uint64_t range = 2821109907456;  // 36^8
  constexpr std::uint64_t step = 1234567890133;   // has no factor in common with it
  std::uint64_t code = static_cast<std::uint64_t>((static_cast<unsigned __int128>(number) * step + seed) % range);
  std::string asin = "B0";
  for (int i = 0; i < 8; ++i, code /= 36) asin += "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[code % 36];
  return asin;
}

std::string dollars(std::uint64_t cents) {
  std::string whole = std::to_string(cents / 100), rest = std::to_string(cents % 100);
  if (whole.size() > 3) whole.insert(whole.size() - 3, ",");
  return "$" + whole + "." + (rest.size() < 2 ? "0" : "") + rest;
}

std::string capitalized(std::string text) {
  bool start = true;
  for (char& c : text) {
    if (start && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    start = c == ' ';
  }
  return text;
}

class ProductMaker {
 public:
  ProductMaker(std::uint64_t number, std::uint64_t seed)
      : draws_(seed * 0xD1342543DE82EF95ull + number + 1), type_(pick_type()), asin_(synthetic_asin(number, seed)) {
    attributes_ = draws_.pick(type_.attributes, 2 + draws_.below(4));
    make_item();
    make_instructions();
  }

  const std::string& asin() const { return asin_; }
  SyntheticCatalogue::Entry entry() const { return {item_, annotations_, human_instructions_}; }

 private:
  const SyntheticType& pick_type() {
    const auto types = synthetic_types();
    return types[draws_.below(types.size())];
  }

  void make_item() {
    const std::string brand = draws_.pick(synthetic_brands()), style = draws_.pick(synthetic_styles());
    title_ = brand + " " + style + " " + std::string(type_.noun) + ", " + capitalized(attributes_[0]);
    if (draws_.chance(30)) title_ += " – " + capitalized(attributes_[1]);
    if (draws_.chance(10)) title_ += " ★ " + std::to_string(2 + draws_.below(5)) + " Pack";

    std::vector<std::string> bullets;
    for (const std::string& attribute : attributes_)
      bullets.push_back(capitalized(attribute) + ": the " + lower_characters(type_.noun) + " from " + brand + " for " +
                        (draws_.chance(50) ? "every day." : "home and travel."));
    const bool one_bullet = draws_.chance(8);
    item_ = {{"name", title_},
             {"asin", asin_},
             {"pricing", make_price()},
             {"full_description", draws_.chance(12) ? Json("")
                                                    : Json("The " + brand + " " + lower_characters(style) + " " +
                                                           lower_characters(type_.noun) +
                                                           " isn’t like the others: " + join(attributes_, ", ") + ".")},
             {"small_description", one_bullet ? Json(bullets[0]) : Json(bullets)},
             {"customization_options", make_options()},
             {"images", Json::array({"images/" + asin_ + ".png"})},
             {"product_category", type_.path},
             {"category", type_.category},
             {"query", type_.query}};
  }

  Json make_price() {
    if (draws_.chance(4)) return nullptr;
    const std::uint64_t lowest = static_cast<std::uint64_t>(type_.lowest_price) * 100;
    const std::uint64_t range = static_cast<std::uint64_t>(type_.highest_price - type_.lowest_price) * 100;
    // The smaller of two draws: most prices are low.
    const std::uint64_t price = lowest + std::min(draws_.below(range), draws_.below(range));
    if (!draws_.chance(20)) return dollars(price);
    return dollars(price) + " - " + dollars(price + 100 + draws_.below(price));
  }

  Json make_options() {
    if (draws_.chance(15)) return draws_.chance(50) ? Json("") : Json(nullptr);
    Json options = Json::object();
    for (const SyntheticOption& option : type_.options) {
      Json values = Json::array();
      for (const std::string& value : draws_.pick(option.values, 1 + draws_.below(4)))
        values.push_back({{"value", value}, {"image", nullptr}});
      options[std::string(option.name)] = draws_.chance(5) ? Json(nullptr) : std::move(values);
    }
    return options;
  }

  void make_instructions() {
    std::vector<std::string> requested = attributes_;
    if (requested.size() > 3) requested.resize(3);
    annotations_ = {{"attributes", attributes_}};
    human_instructions_ = Json::array();
    const std::string item = lower_characters(type_.noun);
    if (draws_.chance(45)) {
      requested.resize(std::min<std::size_t>(requested.size(), 1 + draws_.below(3)));
      annotations_["instruction"] = "Find me " + join(requested, ", ") + " " + item;
      annotations_["instruction_attributes"] = requested;
    }
    if (draws_.chance(40)) {
      Json chosen = Json::array();
      const Json& options = item_["customization_options"];
      if (options.is_object())
        for (const auto& [name, values] : options.items())
          if (!values.is_null()) chosen.push_back(lower_characters(values[0]["value"].get<std::string>()));
      human_instructions_.push_back({{"instruction", "i need " + item + " with " + join(requested, " and ") + "."},
                                     {"instruction_attributes", draws_.chance(5) ? Json::array() : Json(requested)},
                                     {"instruction_options", chosen},
                                     {"asin", asin_}});
    }
  }

  SyntheticDraws draws_;
  const SyntheticType& type_;
  std::string asin_, title_;
  std::vector<std::string> attributes_;
  Json item_, annotations_, human_instructions_;
};

}  // namespace

void SyntheticCatalogue::generate(const std::function<void(const std::string& asin, const Entry&)>& receive) const {
  for (std::uint32_t number = 0; number < products_; ++number) {
    const ProductMaker product(number, seed_);
    receive(product.asin(), product.entry());
  }
}

void SyntheticCatalogue::write(const std::filesystem::path& folder) const {
  Json items = Json::array(), annotations = Json::object(), human_instructions = Json::object();
  generate([&](const std::string& asin, const Entry& entry) {
    items.push_back(entry.item);
    annotations[asin] = entry.annotations;
    if (!entry.human_instructions.empty()) human_instructions[asin] = entry.human_instructions;
  });
  write_file_atomically(folder / "items_shuffle.json", items.dump(1));
  write_file_atomically(folder / "items_ins_v2.json", annotations.dump(1));
  write_file_atomically(folder / "items_human_ins.json", human_instructions.dump(1));
}

}  // namespace starpo
