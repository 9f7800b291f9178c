#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace starpo {

struct ProductOption {
  std::string name;
  std::vector<std::string> values;
};

// An instruction that a person wrote for a product.
struct HumanInstruction {
  std::string text;
  std::vector<std::string> attributes, options;  // options: values
};

// A product as WebShop shows it, with what its goals need.
struct Product {
  std::string asin, title, description;
  std::vector<std::string> bullets;
  std::string category, query;
  std::string product_category;  // path joined by " › "
  std::vector<double> prices;    // one, or the ends of a range
  std::vector<ProductOption> options;
  std::vector<std::string> attributes;
  std::optional<std::string> instruction;  // of a synthetic goal
  std::vector<std::string> instruction_attributes;
  std::vector<HumanInstruction> human_instructions;
  std::optional<std::vector<std::string>> nouns;  // of the title, if a file lists them

  std::string price_tag() const;  // such as "$48.7" or "$5.0 to $9.5"

  // The text that the search indexes.
  std::string search_text() const;
};

// Serializes a product for a catalogue file.
std::string pack(const Product&);
Product unpack_product(std::string_view bytes);  // errors: index_invalid

}  // namespace starpo
