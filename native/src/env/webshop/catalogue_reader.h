#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "env/webshop/product.h"

namespace starpo {

// The annotations of a product, in the schema of items_ins_v2.json.
struct ProductAnnotations {
  std::optional<std::vector<std::string>> attributes;
  std::optional<std::string> instruction;
  std::vector<std::string> instruction_attributes;
};

// Converts products of WebShop's files. Errors of all members: catalogue_invalid, which names the file, the product and
// the key.
class CatalogueReader {
 public:
  // human_goals: instructions come from add_human_instructions(), and a product needs no annotations.
  explicit CatalogueReader(bool human_goals) : human_goals_(human_goals) {}

  void add_annotations(const std::string& asin, const nlohmann::ordered_json& entry);
  void add_human_instructions(const std::string& asin, const nlohmann::ordered_json& entries);
  void add_nouns(const std::string& asin, std::vector<std::string> nouns);

  // Returns a product of items_shuffle.json, or nothing for one that WebShop skips: the asin "nan", an asin with more
  // than ten characters, and an asin that a product had before.
  std::optional<Product> read(const nlohmann::ordered_json& item);

 private:
  bool human_goals_;
  std::unordered_map<std::string, ProductAnnotations> annotations_;
  std::unordered_map<std::string, std::vector<HumanInstruction>> human_instructions_;
  std::unordered_map<std::string, std::vector<std::string>> nouns_;
  std::unordered_set<std::string> asins_;
};

// Reads a folder with items_shuffle*.json, items_ins_v2*.json, items_human_ins.json (if human_goals) and, optionally,
// nouns.tsv, and calls `receive` with each product in order. Products are streamed, so that memory does not grow with
// the size of items_shuffle.json. Errors: catalogue_missing, catalogue_ambiguous, catalogue_invalid.
void read_catalogue_folder(const std::filesystem::path& folder, bool human_goals,
                           const std::function<void(Product)>& receive);

}  // namespace starpo
