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

// The files of a catalogue. Empty: not needed, or absent.
struct CatalogueFiles {
  std::filesystem::path products, annotations, human_instructions, nouns;
};

// Finds items_shuffle*.json, items_ins_v2*.json, items_human_ins.json (if human_goals) and, optionally, nouns.tsv in a
// folder. Errors: catalogue_missing, catalogue_ambiguous.
CatalogueFiles find_catalogue_files(const std::filesystem::path& folder, bool human_goals);

// Calls `receive` with each product in order. Products are streamed, so that memory does not grow with the size of
// their file. Errors: catalogue_missing, catalogue_invalid.
void read_catalogue(const CatalogueFiles&, bool human_goals, const std::function<void(const Product&)>& receive);

}  // namespace starpo
